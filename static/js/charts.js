// Charts from JSON in the page; gaps stay gaps; colours follow the theme. Marks matches in the log.
(function () {
    "use strict";
    const drawn = new Map();
    const zoomed = new Map();

    function token(name) {
        return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    }

    const zone = document.documentElement.dataset.zone || undefined;

    function axis(extra) {
        const line = { lineStyle: { color: token("--gp-line") } };
        return Object.assign(
            {
                axisLine: line,
                splitLine: line,
                axisLabel: { color: token("--gp-ink-3"), fontFamily: token("--gp-font") },
            },
            extra
        );
    }

    const TONES = { first: "--gp-accent", second: "--gp-good", third: "--gp-wait", soft: "--gp-ink-3" };

    function line(panel, one, at) {
        const colour = token(TONES[one.tone]);
        const soft = one.tone === "soft";
        return {
            name: panel.title === one.name ? one.name : panel.title + ": " + one.name,
            type: "line",
            xAxisIndex: at,
            yAxisIndex: at,
            showSymbol: one.data.length < 3,
            symbolSize: 5,
            connectNulls: false,
            lineStyle: { width: soft ? 1 : 1.75, color: colour, type: soft ? "dotted" : "solid" },
            itemStyle: { color: colour },
            areaStyle: one.tone === "first" ? { color: colour, opacity: 0.1 } : undefined,
            data: one.data,
        };
    }

    // The whole span that was asked for, so that what was not measured is seen as a gap.
    function span(series) {
        const first = new Date(series.from).getTime();
        return { min: first, max: Math.max(new Date(series.until).getTime(), first + 10000) };
    }

    function moment(window) {
        const wanted = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone };
        if (window.max - window.min < 600000) {
            wanted.second = "2-digit";
        }
        if (window.max - window.min > 93600000) {
            wanted.month = "numeric";
            wanted.day = "numeric";
        }
        return new Intl.DateTimeFormat(document.documentElement.lang, wanted).format;
    }

    const PANEL = 78;
    const BETWEEN = 44;

    // Panels one below the other with one time; a wheel or a pinch narrows all of them.
    function stack(series, tools, element) {
        const window = span(series);
        const panels = series.panels;
        element.style.height = 32 + panels.length * (PANEL + BETWEEN) + "px";
        const format = moment(window);
        const lines = [];
        panels.forEach(function (panel, at) {
            panel.lines.forEach(function (one) {
                lines.push(line(panel, one, at));
            });
            if (panel.cap) {
                lines[lines.length - 1].markLine = {
                    symbol: "none",
                    silent: true,
                    lineStyle: { color: token("--gp-bad"), type: "dashed" },
                    label: { formatter: panel.cap_name, position: "insideEndTop", color: token("--gp-ink-3") },
                    data: [{ yAxis: panel.cap }],
                };
            }
        });
        return {
            animation: false,
            textStyle: { fontFamily: token("--gp-font") },
            tooltip: {
                trigger: "axis",
                confine: true,
                backgroundColor: token("--gp-surface"),
                borderColor: token("--gp-line-strong"),
                textStyle: { color: token("--gp-ink") },
                valueFormatter: function (value) {
                    return typeof value === "number" ? new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 }).format(value) : "–";
                },
            },
            axisPointer: { link: [{ xAxisIndex: "all" }] },
            dataZoom: [{ type: "inside", xAxisIndex: panels.map(function (_panel, at) { return at; }), zoomOnMouseWheel: "ctrl", moveOnMouseWheel: false, filterMode: "none" }],
            grid: panels.map(function (_panel, at) {
                return { left: 64, right: 16, top: 28 + at * (PANEL + BETWEEN), height: PANEL };
            }),
            xAxis: panels.map(function (_panel, at) {
                const last = at === panels.length - 1;
                return axis({ type: "time", gridIndex: at, min: window.min, max: window.max, axisLabel: { show: last, color: token("--gp-ink-3"), hideOverlap: true, formatter: format } });
            }),
            yAxis: panels.map(function (panel, at) {
                const most = panel.most || (panel.cap ? function (value) { return Math.max(value.max, panel.cap); } : undefined);
                return axis({ gridIndex: at, name: panel.title + " (" + panel.unit + ")", nameTextStyle: { color: token("--gp-ink-3"), align: "left", padding: [0, 0, 0, -56] }, min: 0, max: most, splitNumber: 2 });
            }),
            series: lines,
        };
    }

    const kinds = Object.assign({ stack: stack }, window.gpupoolCharts);

    // What somebody looked at closer stays so when newer readings are drawn.
    function remember(asked, chart) {
        const zoom = chart.getOption().dataZoom[0];
        if (zoom.start > 0 || zoom.end < 100) {
            zoomed.set(asked, { startValue: zoom.startValue, endValue: zoom.endValue });
        } else {
            zoomed.delete(asked);
        }
    }

    function draw(element) {
        const source = document.getElementById(element.dataset.source);
        const kind = kinds[element.dataset.chart];
        if (!source || !kind || !window.echarts || !element.clientWidth) {
            return;
        }
        drawn.forEach(function (old, place) {
            if (!place.isConnected) {
                old.dispose();
                drawn.delete(place);
            }
        });
        if (element.dataset.height) {
            element.style.height = element.dataset.height + "px";
        }
        const chart = drawn.get(element) || window.echarts.init(element, null, { renderer: "svg" });
        const series = JSON.parse(source.textContent);
        const asked = source.id + " " + (series.span || "");
        if (!drawn.has(element)) {
            chart.on("datazoom", function () {
                remember(asked, chart);
            });
        }
        drawn.set(element, chart);
        const tools = { token: token, axis: axis, moment: moment, narrow: element.clientWidth < 520 };
        const option = kind(series, tools, element);
        const kept = zoomed.get(asked);
        if (kept && option.dataZoom) {
            option.dataZoom = option.dataZoom.map(function (one) {
                return Object.assign({}, one, kept);
            });
        }
        chart.resize();
        chart.setOption(option, true);
    }

    function drawAll() {
        document.querySelectorAll("[data-chart]").forEach(draw);
    }

    function search(field) {
        const pre = document.getElementById(field.dataset.logSearch);
        if (!window.CSS.highlights || !pre) {
            return;
        }
        CSS.highlights.delete("gp-found");
        const wanted = field.value.toLowerCase();
        const ranges = [];
        const walker = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
        while (wanted && walker.nextNode() && ranges.length < 500) {
            const text = walker.currentNode.data.toLowerCase();
            for (let at = text.indexOf(wanted); at >= 0 && ranges.length < 500; at = text.indexOf(wanted, at + wanted.length)) {
                const range = new Range();
                range.setStart(walker.currentNode, at);
                range.setEnd(walker.currentNode, at + wanted.length);
                ranges.push(range);
            }
        }
        CSS.highlights.set("gp-found", new Highlight(...ranges));
        if (ranges.length) {
            const box = ranges[ranges.length - 1].getBoundingClientRect();
            pre.scrollTop += box.top - pre.getBoundingClientRect().top - pre.clientHeight / 2;
        }
    }

    document.addEventListener("DOMContentLoaded", drawAll);
    document.addEventListener("gpupool:theme", drawAll);
    document.addEventListener("htmx:afterSettle", drawAll);
    document.addEventListener("toggle", drawAll, true);
    window.addEventListener("resize", function () {
        drawn.forEach(function (chart) {
            chart.resize();
        });
    });
    document.addEventListener("input", function (event) {
        if (event.target.matches("[data-log-search]")) {
            search(event.target);
        }
    });
})();
