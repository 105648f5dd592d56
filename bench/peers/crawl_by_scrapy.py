"""Crawls a list of URLs with Scrapy: scrapy runspider crawl_by_scrapy.py -a urls=FILE -a figures=FILE [-a budget=SECONDS]

Records title and links of each page, as Trawl does by default. Writes figures to a file. They run from the opening of the spider to its
end, or to the end of the budget, when the process exits at once.
"""

import json
import os
import resource
import time
from urllib.parse import urljoin

from scrapy import Request, Spider, signals


class ListSpider(Spider):
    name = "list"
    pages = 0
    budget = None

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, signals.spider_opened)
        return spider

    def opened(self):
        self.began = time.monotonic()
        if self.budget is not None:
            from twisted.internet import reactor

            reactor.callLater(float(self.budget), self.stop_here)

    def start_requests(self):
        with open(self.urls) as lines:
            for line in lines:
                # The list has no duplicates, so filtering them would only cost time.
                yield Request(line.strip(), dont_filter=True)

    def parse(self, response):
        self.pages += 1
        yield {
            "url": response.url,
            "status": response.status,
            "title": response.xpath("//title/text()").get(),
            "links": [urljoin(response.url, href) for href in response.xpath("//a/@href").getall()],
        }

    def closed(self, reason):
        self.write_figures()

    def stop_here(self):
        self.write_figures()
        # Closing the spider would wait for all requests in hand, each at its host's pace.
        os._exit(0)

    def write_figures(self):
        seconds = time.monotonic() - self.began
        usage = resource.getrusage(resource.RUSAGE_SELF)
        cpu_ms = 1_000 * (usage.ru_utime + usage.ru_stime)
        figures = {"pages": self.pages, "seconds": seconds, "cpuMs": cpu_ms, "rssMb": max_rss_kb() / 1_024}
        with open(self.figures, "w") as file:
            json.dump(figures, file)


def max_rss_kb():
    """Returns the kernel's high-water mark, where /proc has it: ru_maxrss is never below the parent's memory when it forked."""
    try:
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
