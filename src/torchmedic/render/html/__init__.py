"""A run as one self-contained HTML page, and the parts of it that other pages show."""

from torchmedic.render.html.figures import chart_data as chart_data
from torchmedic.render.html.model import Report as Report
from torchmedic.render.html.page import asset as asset
from torchmedic.render.html.page import fragment as fragment
from torchmedic.render.html.page import in_every_language as in_every_language
from torchmedic.render.html.page import live_page as live_page
from torchmedic.render.html.page import page as page
from torchmedic.render.html.page import verdicts_html as verdicts_html
