"""A run as one self-contained HTML page."""

from torchmedic.render.html.model import Report as Report
from torchmedic.render.html.page import fragment as fragment
from torchmedic.render.html.page import page as page
