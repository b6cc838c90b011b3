// Charts of capacity planning: dots of memory against compute, and weekly demand with what is there.
(function () {
    "use strict";
    window.gpupoolCharts = window.gpupoolCharts || {};
    const TONES = { recut: "--gp-wait", fewer: "--gp-bad", smaller: "--gp-ink-3", well: "--gp-good" };
    const LINES = ["--gp-accent", "--gp-good", "--gp-wait", "--gp-bad", "--gp-ink-3", "--gp-other"];

    function tip(token, formatter) {
        return {
            confine: true,
            backgroundColor: token("--gp-surface"),
            borderColor: token("--gp-line-strong"),
            textStyle: { color: token("--gp-ink") },
            formatter: formatter,
        };
    }

    function plain(text) {
        const box = document.createElement("span");
        box.textContent = text;
        return box.innerHTML;
    }

    function percent(tools, name, extra) {
        return tools.axis(Object.assign({ type: "value", min: 0, max: 100, name: name, nameLocation: "middle", nameTextStyle: { color: tools.token("--gp-ink-3") } }, extra));
    }

    window.gpupoolCharts.corners = function (series, tools) {
        const token = tools.token;
        const most = Math.max.apply(null, series.dots.map(function (dot) { return dot.weight; }));
        return {
            animation: false,
            textStyle: { fontFamily: token("--gp-font") },
            grid: { left: 56, right: 20, top: 16, bottom: 48 },
            xAxis: percent(tools, series.x, { nameGap: 30 }),
            yAxis: percent(tools, series.y, { nameGap: 38 }),
            tooltip: tip(token, function (point) {
                const dot = series.dots[point.dataIndex];
                return "<b>" + plain(dot.name) + "</b><br>" + plain(dot.said) + "<br>" + dot.x + " % · " + dot.y + " %";
            }),
            series: [
                {
                    type: "scatter",
                    data: series.dots.map(function (dot) {
                        return {
                            value: [dot.x, dot.y],
                            symbolSize: 10 + 30 * Math.sqrt(most ? dot.weight / most : 0),
                            itemStyle: { color: token(TONES[dot.corner]), opacity: 0.75 },
                        };
                    }),
                    label: {
                        show: series.dots.length < 12 && !tools.narrow,
                        position: "right",
                        color: token("--gp-ink-2"),
                        formatter: function (point) { return series.dots[point.dataIndex].name; },
                    },
                    labelLayout: { hideOverlap: true },
                },
            ],
        };
    };

    window.gpupoolCharts.demand = function (series, tools) {
        const token = tools.token;
        const weeks = [];
        for (let ago = series.weeks; ago > 0; ago -= 1) {
            weeks.push(ago);
        }
        const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
        return {
            animation: false,
            textStyle: { fontFamily: token("--gp-font") },
            grid: { left: 48, right: 20, top: 40, bottom: 44 },
            legend: { type: "scroll", top: 4, textStyle: { color: token("--gp-ink-2") } },
            xAxis: tools.axis({ type: "category", data: weeks, name: series.ago, nameLocation: "middle", nameGap: 28, nameTextStyle: { color: token("--gp-ink-3") } }),
            yAxis: tools.axis({ type: "value", min: 0 }),
            tooltip: Object.assign(tip(token), { trigger: "axis", valueFormatter: function (value) { return typeof value === "number" ? number.format(value) : "–"; } }),
            series: series.lines.map(function (line, at) {
                const colour = token(LINES[at % LINES.length]);
                const missing = new Array(series.weeks - line.data.length).fill(null);
                return {
                    name: line.name,
                    type: "line",
                    showSymbol: line.data.length < 3,
                    lineStyle: { width: 1.75, color: colour },
                    itemStyle: { color: colour },
                    data: missing.concat(line.data),
                    markLine: line.there ? {
                        symbol: "none",
                        silent: true,
                        label: { show: false },
                        lineStyle: { color: colour, type: "dashed", opacity: 0.6 },
                        data: [{ yAxis: line.there }],
                    } : undefined,
                };
            }),
        };
    };

    window.gpupoolCharts.room = function (series, tools) {
        const token = tools.token;
        const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
        return {
            animation: false,
            textStyle: { fontFamily: token("--gp-font") },
            grid: { left: 48, right: 20, top: 40, bottom: 32 },
            legend: { type: "scroll", top: 4, textStyle: { color: token("--gp-ink-2") } },
            xAxis: tools.axis({ type: "category", data: series.days }),
            yAxis: tools.axis({ type: "value", min: 0, name: series.unit, nameTextStyle: { color: token("--gp-ink-3") } }),
            tooltip: Object.assign(tip(token), { trigger: "axis", valueFormatter: function (value) { return typeof value === "number" ? number.format(value) : "–"; } }),
            series: series.lines.map(function (line, at) {
                const colour = token(LINES[(at + 2) % LINES.length]);
                return {
                    name: line.name,
                    type: "line",
                    showSymbol: false,
                    connectNulls: false,
                    lineStyle: { width: 1.75, color: colour },
                    itemStyle: { color: colour },
                    data: line.data,
                };
            }),
        };
    };
})();
