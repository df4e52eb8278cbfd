"""Case A3: nothing can be downloaded. Is it the package, the network, or the login page of the campus gateway?

The gateway is played by this script, so that it behaves alike everywhere.
"""

import argparse
import http.server
import os
import threading
import urllib.request

import torch
from torch import nn

PAGE = b"<!DOCTYPE html><html><head><title>Campus network login</title></head><body>Log in again</body></html>"


class Gateway(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, *_):
        pass


def fetch(url, path):
    with urllib.request.urlopen(url, timeout=5) as answer, open(path, "wb") as file:
        file.write(answer.read())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", choices=["closed", "login"], default="login")
    if parser.parse_args().network == "login":
        gateway = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Gateway)
        threading.Thread(target=gateway.serve_forever, daemon=True).start()
        os.environ["http_proxy"] = f"http://127.0.0.1:{gateway.server_port}"
    else:
        os.environ["http_proxy"] = os.environ["https_proxy"] = "http://student:s3cret@127.0.0.1:9"
    fetch("http://weights.example.org/encoder.pt", "encoder.pt")
    encoder = nn.Linear(4, 2)
    encoder.load_state_dict(torch.load("encoder.pt"))


if __name__ == "__main__":
    main()
