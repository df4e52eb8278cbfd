import http.server
import os
import threading
import urllib.request

import torch
from torch import nn

PAGE = b"<!DOCTYPE html><html><head><title>Campus network login</title></head><body>Log in</body></html>"


class Gateway(http.server.BaseHTTPRequestHandler):
    """Answers every request with its login page, as the gateway of a campus does."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


gateway = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
threading.Thread(target=gateway.serve_forever, daemon=True).start()
os.environ["http_proxy"] = f"http://127.0.0.1:{gateway.server_port}"

urllib.request.urlretrieve("http://weights.example.org/linear.pt", "linear.pt")
model = nn.Linear(4, 2)
model.load_state_dict(torch.load("linear.pt"))  # expect: ENV008
