// Writes every <time datetime> in the reader's own zone and language; ages and countdowns tick.
(function () {
    "use strict";
    const root = document.documentElement;
    const zone = root.dataset.zone || undefined;
    const language = root.lang || undefined;

    function format(options) {
        try {
            return new Intl.DateTimeFormat(language, Object.assign({ timeZone: zone }, options));
        } catch (unknownZone) {
            return new Intl.DateTimeFormat(language, options);
        }
    }

    const day = format({ year: "numeric", month: "numeric", day: "numeric" });
    const short = format({ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    const exact = format({ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
    const clock = format({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
    const date = format({ year: "numeric", month: "short", day: "numeric" });
    const full = format({ dateStyle: "full", timeStyle: "long" });
    const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
    const units = [
        ["day", 86400],
        ["hour", 3600],
        ["minute", 60],
        ["second", 1],
    ];

    function age(then) {
        const seconds = (then - Date.now()) / 1000;
        const size = Math.abs(seconds);
        const unit = units.find(function (pair) {
            return size >= pair[1];
        }) || units[3];
        return relative.format(Math.trunc(seconds / unit[1]), unit[0]);
    }

    function span(seconds) {
        const whole = Math.max(0, Math.floor(seconds));
        const hours = Math.floor(whole / 3600);
        const rest = String(Math.floor((whole % 3600) / 60)).padStart(2, "0");
        const tail = String(whole % 60).padStart(2, "0");
        return hours ? hours + ":" + rest + ":" + tail : rest + ":" + tail;
    }

    function text(element, then) {
        switch (element.dataset.show) {
            case "age":
                return age(then);
            case "exact":
                return day.format(then) === day.format(new Date()) ? clock.format(then) : exact.format(then);
            case "clock":
                return clock.format(then);
            case "date":
                return date.format(then);
            case "since":
                return span((Date.now() - then) / 1000);
            case "until":
                return span((then - Date.now()) / 1000);
            default:
                return day.format(then) === day.format(new Date()) ? clock.format(then) : short.format(then);
        }
    }

    function write(element) {
        const then = new Date(element.getAttribute("datetime"));
        if (Number.isNaN(then.getTime())) {
            return;
        }
        const wanted = text(element, then);
        if (element.textContent !== wanted) {
            element.textContent = wanted;
        }
        if (!element.title) {
            element.title = full.format(then);
        }
    }

    function writeAll(where) {
        where.querySelectorAll("time[datetime]").forEach(write);
    }

    function tick() {
        document.querySelectorAll("time[data-show=age], time[data-show=since], time[data-show=until]").forEach(write);
    }

    document.addEventListener("DOMContentLoaded", function () {
        writeAll(document);
        setInterval(tick, 1000);
    });
    document.addEventListener("gpupool:swapped", function (event) {
        writeAll(event.target);
    });
    document.addEventListener("htmx:afterSettle", function (event) {
        writeAll(event.target.parentElement || document);
    });
})();
