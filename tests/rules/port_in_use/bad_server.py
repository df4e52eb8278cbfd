"""A page that shows the loss, on a port that is taken."""
import http.server
import socket

import torch

PORT = 20614

torch.manual_seed(0)
earlier = socket.create_server(("127.0.0.1", PORT))
loss = torch.randn(8).square().mean()
page = http.server.HTTPServer(("127.0.0.1", PORT), http.server.SimpleHTTPRequestHandler)  # expect: ERR283
