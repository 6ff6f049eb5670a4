"""PrimeNet's stand-in on the loopback.

`primenet.py serve LOG` prints its port and answers: one PRP assignment, a certification and its residue, results, a
proof in pieces.
Each request becomes a line of LOG. `primenet.py run PROGRAM PORT ARGUMENTS...` runs AutoPrimeNet with
the loopback in place of every other address.
"""

import hashlib
import json
import re
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

ID = "0123456789ABCDEF0123456789ABCDEF"

CERTIFICATION = "00112233445566778899AABBCCDDEEFF"


class Server(BaseHTTPRequestHandler):
    """Answers the requests of one client."""

    assigned = False
    asked_for_check = False
    proof = b""

    def log_message(self, *arguments):
        """Says nothing."""

    def note(self, **what):
        with open(sys.argv[2], "a", encoding="utf-8") as log:
            log.write(json.dumps(what) + "\n")

    def answer(self, text, code=200):
        self.answer_bytes(text.encode(), code)

    def answer_bytes(self, text, code=200):
        self.send_response(code)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def primenet(self, asked):
        """The lines of an answer."""
        kind = asked["t"]
        if kind == "uc":
            return {"g": asked["g"], "u": asked.get("u", ""), "cn": "here", "un": "tester", "od": "1"}
        if kind == "ga" and "cert" in asked:
            if Server.asked_for_check:
                return None
            Server.asked_for_check = True
            return {
                "k": CERTIFICATION, "w": "200", "n": "1279", "A": "1", "b": "2", "c": "-1", "ns": "100",
            }
        if kind == "ga" and not Server.assigned:
            Server.assigned = True
            return {
                "k": ID, "w": "150", "n": "44497", "A": "1", "b": "2", "c": "-1",
                "sf": "75", "saved": "0", "base": "3", "rt": "1",
            }
        if kind == "ga":
            return None
        return {"od": "1"}

    def do_GET(self):
        url = urlparse(self.path)
        asked = {name: value[0] for name, value in parse_qs(url.query).items()}
        if url.path.startswith("/v5server"):
            self.note(**asked)
            lines = self.primenet(asked)
            error = (0, "SUCCESS") if lines is not None else (40, "no more work")
            text = f"pnErrorResult={error[0]}\npnErrorDetail={error[1]}\n"
            text += "".join(f"{name}={value}\n" for name, value in (lines or {}).items())
            self.answer(text + "==END==\n")
        elif url.path.startswith("/proof_get_data") and asked["aid"] == CERTIFICATION:
            start = (5).to_bytes(160, "little")
            self.answer_bytes(hashlib.md5(start).hexdigest().encode() + start)
        elif url.path.startswith("/proof_upload"):
            self.note(t="proof", **asked)
            # The scheme is written so that the client keeps it.
            where = f"HTTP://127.0.0.1:{self.server.server_port}/upload/"
            need = {"0": int(asked["FileSize"]) - 1}
            self.answer(json.dumps({"URLToUse": where, "need": need}))
        else:
            self.answer("{}", 404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if not self.path.startswith("/upload"):
            self.answer("{}", 404)
            return
        boundary = re.search("boundary=(.*)", self.headers["Content-Type"]).group(1).encode()
        part = body.split(b"--" + boundary)[1]
        data = part.split(b"\r\n\r\n", 1)[1][:-2]
        self.note(t="uploaded", md5=hashlib.md5(data).hexdigest())
        self.answer(json.dumps({"FileUploaded": True}))


def serve():
    server = HTTPServer(("127.0.0.1", 0), Server)
    print(server.server_port, flush=True)
    server.serve_forever()


def run():
    program, port = sys.argv[2:4]
    with open(program, encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"https://[\w.]+", f"http://127.0.0.1:{port}", text)
    sys.argv = [program] + sys.argv[4:]
    exec(compile(text, program, "exec"), {"__name__": "__main__", "__file__": program})


if __name__ == "__main__":
    {"serve": serve, "run": run}[sys.argv[1]]()
