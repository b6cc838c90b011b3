// The heads' plan: one lane a card, bars for what runs, for the gap before the head, and the head.
(function () {
    "use strict";
    window.gpupoolCharts = window.gpupoolCharts || {};

    const KINDS = ["running", "gap", "head", "reserved", "maintenance"];

    function colours(token) {
        return {
            running: [token("--gp-other"), token("--gp-surface")],
            gap: [token("--gp-accent-soft"), token("--gp-ink-2")],
            head: [token("--gp-accent"), token("--gp-surface")],
            reserved: [token("--gp-accent-mid"), token("--gp-surface")],
            maintenance: [token("--gp-wait"), token("--gp-surface")],
        };
    }

    function bar(paint, font) {
        return function (params, api) {
            const from = api.coord([api.value(0), api.value(2)]);
            const until = api.coord([api.value(1), api.value(2)]);
            const height = Math.min(20, api.size([0, 1])[1] * 0.7);
            const area = params.coordSys;
            const left = Math.max(from[0], area.x);
            const right = Math.min(until[0], area.x + area.width);
            if (left > area.x + area.width) {
                return null;
            }
            const kind = KINDS[api.value(3)];
            const width = Math.max(right - left - 1, 1);
            return {
                type: "group",
                children: [
                    {
                        type: "rect",
                        shape: { x: left, y: from[1] - height / 2, width: width, height: height, r: 3 },
                        style: { fill: paint[kind][0], opacity: api.value(4) ? 1 : 0.55 },
                    },
                    {
                        type: "text",
                        style: {
                            x: left + 6,
                            y: from[1],
                            text: width > 48 ? api.value(5) : "",
                            width: Math.max(width - 12, 1),
                            overflow: "truncate",
                            verticalAlign: "middle",
                            fill: paint[kind][1],
                            font: "12px " + font,
                        },
                    },
                ],
            };
        };
    }

    window.gpupoolCharts.heads = function (series, tools) {
        const token = tools.token;
        const points = [];
        let last = series.start;
        series.lanes.forEach(function (lane, row) {
            lane.bars.forEach(function (one) {
                points.push({ value: [one.from, one.until, row, KINDS.indexOf(one.kind), one.known ? 1 : 0, one.name], kind: one.kind });
                if (["running", "gap"].includes(one.kind)) {
                    last = Math.max(last, one.until);
                }
            });
        });
        const span = Math.max(last - series.now, 60000);
        const window = { min: series.now, max: last + span * 0.35 };
        const write = tools.moment(window);
        return {
            animation: false,
            textStyle: { fontFamily: token("--gp-font") },
            tooltip: {
                confine: true,
                renderMode: "richText",
                backgroundColor: token("--gp-surface"),
                borderColor: token("--gp-line-strong"),
                textStyle: { color: token("--gp-ink") },
                formatter: function (point) {
                    const value = point.value;
                    const said = [series.lanes[value[2]].what + " · " + series.lanes[value[2]].name];
                    const when = point.data.kind === "head" ? value[0] : value[1];
                    said.push((value[5] ? value[5] + ": " : "") + series.words[point.data.kind] + " " + write(when));
                    if (!value[4]) {
                        said.push(series.words.guess);
                    }
                    return said.join("\n");
                },
            },
            grid: { left: tools.narrow ? 8 : 150, right: 16, top: 8, bottom: 28 },
            xAxis: tools.axis({ type: "time", min: window.min, max: window.max, axisLabel: { color: token("--gp-ink-3"), hideOverlap: true, formatter: write } }),
            yAxis: tools.axis({
                type: "category",
                inverse: true,
                axisTick: { show: false },
                axisLabel: { show: !tools.narrow, color: token("--gp-ink-3"), width: 136, overflow: "truncate" },
                data: series.lanes.map(function (lane) {
                    return lane.name;
                }),
            }),
            series: [
                {
                    type: "custom",
                    renderItem: bar(colours(token), token("--gp-font")),
                    encode: { x: [0, 1], y: 2 },
                    data: points,
                    markLine: {
                        symbol: "none",
                        silent: true,
                        label: { show: false },
                        lineStyle: { color: token("--gp-accent"), type: "dashed" },
                        data: [{ xAxis: series.start }],
                    },
                },
            ],
        };
    };
})();
