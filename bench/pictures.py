#!/usr/bin/env python3
"""Saves the plots of a report as pictures: pictures.py REPORT.html FOLDER [CHROMIUM]. docs/tour.md
shows some of them."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tests", "page"))
from browser import Browser  # noqa: E402

page, folder = sys.argv[1:3]
browser = Browser(sys.argv[3] if len(sys.argv) > 3 else "/usr/bin/chromium")
try:
    browser.size(860, 900)
    browser.open(page)
    plots = browser.evaluate("""[...document.querySelectorAll('canvas')].map((canvas) => {
        const box = canvas.parentElement.getBoundingClientRect();
        return { name: canvas.getAttribute('aria-label'), x: box.x + scrollX, y: box.y + scrollY,
                 width: box.width, height: box.height };
    })""")
    for plot in plots:
        name = re.sub(r"[^a-z0-9]+", "-", plot.pop("name").lower()).strip("-")
        browser.picture(os.path.join(folder, name + ".png"), plot)
        print(name)
finally:
    browser.close()
