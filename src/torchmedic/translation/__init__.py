"""Says finished English sentences in another language, by the templates of the message catalogue.

Rules write plain f-strings, and a run file and JSON keep what they say in English. A sentence is translated when it is
drawn: the template that it was made from is found again, what stood in its places is read off (and translated itself
where it is a phrase), and both are put into the translated template.
"""

from torchmedic.translation.speaking import choose as choose
from torchmedic.translation.speaking import chosen as chosen
from torchmedic.translation.speaking import in_language as in_language
from torchmedic.translation.speaking import page as page
from torchmedic.translation.speaking import said as said
from torchmedic.translation.speaking import tell_unknown as tell_unknown
from torchmedic.translation.speaking import template as template
