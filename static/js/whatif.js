// The picture of a what-if: cards held and work that waits, as it was and changed, one below the other.
(function () {
    "use strict";
    window.gpupoolCharts = window.gpupoolCharts || {};

    window.gpupoolCharts.whatif = function (series, tools) {
        const token = tools.token;
        const number = new Intl.NumberFormat(document.documentElement.lang, { maximumFractionDigits: 1 });
        const tones = ["--gp-ink-3", "--gp-accent"];
        const hours = series.panels[0].lines[0].data.map(function (_value, at) {
            return (at * series.step_s) / 3600;
        });
        const lines = [];
        series.panels.forEach(function (panel, at) {
            panel.lines.forEach(function (one, which) {
                const colour = token(tones[which]);
                lines.push({
                    name: one.name,
                    type: "line",
                    xAxisIndex: at,
                    yAxisIndex: at,
                    showSymbol: false,
                    lineStyle: { width: 1.75, color: colour, type: which ? "solid" : "dashed" },
                    itemStyle: { color: colour },
                    data: one.data,
                });
            });
        });
        return {
            animation: false,
            textStyle: { fontFamily: token("--gp-font") },
            legend: { top: 0, right: 12, textStyle: { color: token("--gp-ink-2") } },
            title: series.panels.map(function (panel, at) {
                return { text: panel.title, top: at ? 192 : 0, left: 8, textStyle: { fontSize: 13, fontWeight: 500, color: token("--gp-ink-2") } };
            }),
            grid: series.panels.map(function (_panel, at) {
                return { left: 48, right: 16, top: at ? 220 : 30, height: 120 };
            }),
            xAxis: series.panels.map(function (_panel, at) {
                return tools.axis({
                    type: "category",
                    gridIndex: at,
                    data: hours,
                    name: at ? series.hours : "",
                    nameLocation: "middle",
                    nameGap: 26,
                    nameTextStyle: { color: token("--gp-ink-3") },
                    axisLabel: { color: token("--gp-ink-3"), formatter: function (value) { return number.format(Math.round(value)); } },
                });
            }),
            yAxis: series.panels.map(function (_panel, at) {
                return tools.axis({ type: "value", min: 0, gridIndex: at });
            }),
            axisPointer: { link: [{ xAxisIndex: "all" }] },
            tooltip: {
                trigger: "axis",
                confine: true,
                backgroundColor: token("--gp-surface"),
                borderColor: token("--gp-line-strong"),
                textStyle: { color: token("--gp-ink") },
                valueFormatter: function (value) { return number.format(value); },
            },
            series: lines,
        };
    };
})();
