// Inside JupyterLab: counts down when the notebook will be reclaimed, keeps it, saves before the end.
(function () {
    "use strict";
    const base = new URL(".", document.currentScript.src).href;
    const every = 5000;
    const hereEvery = 60000;
    let strip = null;
    let saved = 0;
    let here = 0;
    let endsAt = null;
    let keeps = 0;
    let words = null;

    function app() {
        return window.jupyterapp;
    }

    function save() {
        if (app() && Date.now() - saved > 20000) {
            saved = Date.now();
            app().commands.execute("docmanager:save-all").catch(function () {
                saved = 0;
            });
        }
    }

    function ask(name, method) {
        return fetch(base + name, { method: method, headers: { "X-GPUPool": "1" }, cache: "no-store" });
    }

    function button(words, act) {
        const made = document.createElement("button");
        made.type = "button";
        made.textContent = words;
        made.style.cssText = "margin-left:12px;padding:4px 12px;border:1px solid currentColor;border-radius:4px;background:transparent;color:inherit;font:inherit;cursor:pointer";
        made.addEventListener("click", act);
        return made;
    }

    function draw() {
        if (strip) {
            return;
        }
        strip = document.createElement("div");
        strip.id = "gpupool-banner";
        strip.setAttribute("role", "alert");
        strip.lang = words.language;
        strip.style.cssText = "position:fixed;z-index:100000;left:0;right:0;bottom:0;padding:10px 16px;background:#7a2e0e;color:#fff;font:14px/1.4 system-ui,sans-serif;display:flex;flex-wrap:wrap;align-items:center;gap:4px";
        const line = document.createElement("span");
        line.style.flex = "1 1 320px";
        strip.append(line);
        strip.append(button(words.keep, function () {
            ask("keep", "POST").then(function (answer) {
                return answer.json();
            }).then(function (told) {
                if (told.message) {
                    line.textContent = told.message;
                } else {
                    show(told);
                }
            });
        }));
        strip.append(button(words.stop, function () {
            save();
            window.setTimeout(function () {
                ask("stop", "POST").then(look);
            }, 1500);
        }));
        document.body.append(strip);
    }

    function tick() {
        if (!strip || endsAt === null) {
            return;
        }
        const left = Math.max(0, Math.round((endsAt - Date.now()) / 1000));
        const time = Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
        strip.firstChild.textContent = words.warning.replace("{time}", time).replace("{keeps}", keeps);
    }

    function hide() {
        if (strip) {
            strip.remove();
            strip = null;
        }
    }

    function show(told) {
        keeps = told.keeps_left;
        if (!told.running) {
            endsAt = null;
            draw();
            strip.firstChild.textContent = words.over;
            Array.from(strip.querySelectorAll("button")).forEach(function (one) {
                one.remove();
            });
            return;
        }
        if (told.warned === null || told.left_s === null || !told.reclaims) {
            endsAt = null;
            hide();
            return;
        }
        endsAt = Date.now() + told.left_s * 1000;
        draw();
        tick();
        if (told.left_s < 600) {
            save();
        }
    }

    function learn() {
        if (words) {
            return Promise.resolve();
        }
        return ask("words", "GET").then(function (answer) {
            return answer.json();
        }).then(function (told) {
            words = told;
        });
    }

    function look() {
        learn().then(function () {
            return ask("state", "GET");
        }).then(function (answer) {
            return answer.ok ? answer.json().then(show) : null;
        }).catch(function () {
            return null;
        });
    }

    function present() {
        if (Date.now() - here > hereEvery) {
            here = Date.now();
            ask("here", "POST").catch(function () {
                here = 0;
            });
        }
    }

    ["keydown", "pointerdown", "wheel", "drop"].forEach(function (kind) {
        document.addEventListener(kind, present, { capture: true, passive: true });
    });
    window.setInterval(look, every);
    window.setInterval(tick, 1000);
    look();
})();
