"""browser - a headless Chromium that looks at the review page as a person does.

Every report of the page's Content-Security-Policy and every error of a script is a failure: quit()
says so.
"""
import os

from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from live import check

DRIVER = "/usr/bin/chromedriver"
WAIT_SECONDS = 15


class Browser:
    def __init__(self, url, shots):
        self.url = url
        self.shots = shots
        options = Options()
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                         "--hide-scrollbars", "--force-color-profile=srgb", "--no-proxy-server",
                         "--disable-background-networking", "--disable-component-update"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(service=Service(DRIVER), options=options)
        self.messages = []
        self.resize(1280, 900)

    def quit(self):
        self.read_log()
        self.driver.quit()
        check(not self.messages, f"the browser complains: {self.messages}")

    def read_log(self):
        # An error status is an answer that tests ask for; everything else is not.
        self.messages += [entry["message"] for entry in self.driver.get_log("browser")
                          if "Failed to load resource: the server responded with a status of" not in entry["message"]]

    # --- where it is ---

    def open(self, path):
        self.driver.get(self.url + path)
        self.read_log()

    @property
    def path(self):
        return self.driver.current_url[len(self.url):]

    def resize(self, width, height):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def scheme(self, name):
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": name}]})

    def script(self, allowed):
        self.driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": not allowed})

    def shot(self, name):
        if self.shots:
            self.driver.save_screenshot(os.path.join(self.shots, name + ".png"))

    def shots_of(self, name):
        """Desktop and phone, light and dark."""
        for scheme in ("light", "dark"):
            self.scheme(scheme)
            for device, width, height in (("desktop", 1280, 900), ("phone", 390, 844)):
                self.resize(width, height)
                self.shot(f"{name}-{device}-{scheme}")
        self.scheme("light")
        self.resize(1280, 900)

    # --- what is there ---

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector="body"):
        return self.one(selector).text

    def wait(self, condition, what):
        WebDriverWait(self.driver, WAIT_SECONDS, ignored_exceptions=(Exception,)).until(
            lambda _: condition(), f"not within {WAIT_SECONDS} s: {what}")

    def wait_text(self, words, selector="body"):
        self.wait(lambda: words in self.text(selector), f"{words!r} in {selector}")

    def connected(self):
        """Does the page listen for changes?"""
        self.wait(lambda: self.one("main").get_attribute("data-connected") == "yes", "the page listens")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    # --- what a person does ---

    def fill(self, selector, words):
        field = self.one(selector)
        field.clear()
        field.send_keys(words)

    def click(self, selector):
        """The page may put a new element in its place at any moment: then that one."""
        for tries in range(5):
            try:
                element = self.one(selector)
                self.run("arguments[0].scrollIntoView({block: 'center', behavior: 'instant'})", element)
                element.click()
                break
            except StaleElementReferenceException:
                if tries == 4:
                    raise
        self.read_log()

    def sign_in(self, name, password=None):
        self.open("/sign-in")
        self.fill("#u", name)
        self.fill("#p", password or name + "-secret")
        self.click("button.go")
