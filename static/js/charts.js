// Charts from JSON in the page; gaps stay gaps; colours follow the theme. Marks matches in the log.
(function () {
    "use strict";
    const drawn = new Map();

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

    function line(name, index, points, colour, at) {
        return {
            name: name,
            type: "line",
            xAxisIndex: at,
            yAxisIndex: at,
            showSymbol: points.length < 3,
            connectNulls: false,
            lineStyle: { width: 1.75, color: colour },
            itemStyle: { color: colour },
            areaStyle: { color: colour, opacity: 0.1 },
            data: points.map(function (point) {
                return [point[0], point[index]];
            }),
        };
    }

    // From the start of the attempt to its end, or to now, and every point that was measured.
    function span(series) {
        const moments = series.points.map(function (point) {
            return new Date(point[0]).getTime();
        });
        const first = Math.min(new Date(series.from).getTime(), ...moments);
        const last = Math.max(new Date(series.until).getTime(), ...moments);
        return { min: first, max: Math.max(last, first + 10000) };
    }

    function moment(window) {
        const wanted = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: zone };
        if (window.max - window.min < 600000) {
            wanted.second = "2-digit";
        }
        return new Intl.DateTimeFormat(document.documentElement.lang, wanted).format;
    }

    function workload(series) {
        const window = span(series);
        const accent = token("--gp-accent");
        const good = token("--gp-good");
        const memory = line(series.memory, 2, series.points, good, 1);
        if (series.memory_cap) {
            memory.markLine = {
                symbol: "none",
                silent: true,
                lineStyle: { color: token("--gp-bad"), type: "dashed" },
                label: { formatter: series.limit, position: "insideEndTop", color: token("--gp-ink-3") },
                data: [{ yAxis: series.memory_cap }],
            };
        }
        return {
            animation: false,
            textStyle: { fontFamily: token("--gp-font") },
            tooltip: { trigger: "axis", backgroundColor: token("--gp-surface"), borderColor: token("--gp-line-strong"), textStyle: { color: token("--gp-ink") } },
            axisPointer: { link: [{ xAxisIndex: "all" }] },
            grid: [
                { left: 64, right: 16, top: 28, height: 96 },
                { left: 64, right: 16, top: 168, height: 96 },
            ],
            xAxis: [axis({ type: "time", gridIndex: 0, axisLabel: { show: false }, min: window.min, max: window.max }), axis({ type: "time", gridIndex: 1, min: window.min, max: window.max, axisLabel: { color: token("--gp-ink-3"), hideOverlap: true, formatter: moment(window) } })],
            yAxis: [
                axis({ gridIndex: 0, name: series.busy + " (%)", nameTextStyle: { color: token("--gp-ink-3"), align: "left" }, min: 0, max: 100, interval: 50 }),
                axis({ gridIndex: 1, name: series.memory + " (MiB)", nameTextStyle: { color: token("--gp-ink-3"), align: "left" }, min: 0, max: series.memory_cap || undefined, splitNumber: 2 }),
            ],
            series: [line(series.busy, 1, series.points, accent, 0), memory],
        };
    }

    const kinds = Object.assign({ workload: workload }, window.gpupoolCharts);

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
        drawn.set(element, chart);
        const tools = { token: token, axis: axis, moment: moment, narrow: element.clientWidth < 520 };
        chart.resize();
        chart.setOption(kind(JSON.parse(source.textContent), tools), true);
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
