"""Pages in a browser that reaches nothing but this machine, and the server that they come from."""

import http.server


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


class Visit:
    """A page in a window of its own, and everything that went wrong while it was open."""

    def __init__(self, browser, allowed: str, theme="light", width=1280, touch=False):
        self.faults: list[str] = []
        self.allowed = allowed
        viewport = {"width": width, "height": 900}
        self.context = browser.new_context(viewport=viewport, color_scheme=theme, reduced_motion="reduce",
                                           has_touch=touch)
        self.context.route("**/*", self.only_local)
        self.page = self.context.new_page()
        self.page.set_default_timeout(90_000)
        self.page.on("console", lambda m: m.type == "error" and self.faults.append(f"console: {m.text}"))
        self.page.on("pageerror", lambda error: self.faults.append(f"script: {error}"))
        self.page.on("requestfailed", lambda r: self.faults.append(f"failed: {r.url} {r.failure}"))
        self.page.on("response", lambda r: r.status >= 400 and self.faults.append(f"{r.status}: {r.url}"))

    def only_local(self, route):
        if route.request.url.startswith(self.allowed):
            route.continue_()
        else:
            self.faults.append(f"asks another server: {route.request.url}")
            route.abort()

    def open(self, url: str):
        self.page.goto(url)
        self.page.wait_for_load_state("networkidle")
        self.page.evaluate("() => window.MathJax?.startup?.promise")
        until_drawn(self.page)
        return self.page


def until_drawn(page) -> None:
    page.wait_for_function("() => [...document.querySelectorAll('figure.vegalite')].every((f) => f.dataset.drawn)")
