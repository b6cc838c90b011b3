// One WebSocket for the page: swaps fresh fragments into [data-live], appends text to [data-log].
(function () {
    "use strict";
    const first = 500;
    const most = 15000;
    const silence = 70000;
    let socket = null;
    let wait = first;
    let heard = 0;
    let lastEvent = 0;
    let leaving = false;
    const subscribed = new Set();
    const poked = new Map();
    const used = new Map();

    function topics() {
        const found = new Set();
        document.querySelectorAll("[data-live]").forEach(function (element) {
            found.add(element.dataset.live);
        });
        document.querySelectorAll("[data-live-poke]").forEach(function (element) {
            found.add(element.dataset.livePoke);
        });
        document.querySelectorAll("[data-live-use]").forEach(function (element) {
            found.add(element.dataset.liveUse);
        });
        document.querySelectorAll("[data-log]").forEach(function (element) {
            if (element.dataset.done !== "1") {
                found.add(element.dataset.log);
            }
        });
        return Array.from(found);
    }

    function cursors() {
        const found = {};
        document.querySelectorAll("[data-log]").forEach(function (element) {
            found[element.dataset.log] = Number(element.dataset.offset || 0);
        });
        return found;
    }

    function mark(state) {
        document.documentElement.dataset.line = state;
    }

    function swap(element, html) {
        window.Idiomorph.morph(element, html, { morphStyle: "innerHTML", ignoreActiveValue: true });
        window.htmx.process(element);
        element.dispatchEvent(new CustomEvent("gpupool:swapped", { bubbles: true }));
    }

    // How busy each card is: two bars, hatched where nothing is known.
    function bars(element, cards) {
        const told = cards[element.dataset.use];
        const known = Boolean(told) && (told[0] !== null || told[1] !== null);
        const wide = element.viewBox.baseVal.width / 100;
        const words = known ? element.dataset.useWords : element.dataset.useUnknown;
        const said = words
            .replace("{busy}", known && told[0] !== null ? told[0] + " %" : "–")
            .replace("{memory}", known && told[1] !== null ? told[1] + " %" : "–");
        element.classList.toggle("gp-use-unknown", !known);
        element.querySelector(".gp-use-busy").setAttribute("width", known ? (told[0] || 0) * wide : 0);
        element.querySelector(".gp-use-memory").setAttribute("width", known ? (told[1] || 0) * wide : 0);
        element.querySelector("title").textContent = said;
        element.setAttribute("aria-label", said);
    }

    function use() {
        document.querySelectorAll("[data-live-use]").forEach(function (place) {
            const cards = used.get(place.dataset.liveUse);
            if (cards) {
                place.querySelectorAll("[data-use]").forEach(function (element) {
                    bars(element, cards);
                });
            }
        });
    }

    function log(element, message) {
        const offset = Number(element.dataset.offset || 0);
        if (message.reset) {
            element.textContent = "";
        } else if (message.offset <= offset) {
            return;
        }
        const follow = element.scrollHeight - element.scrollTop - element.clientHeight < 40;
        element.append(message.text);
        element.dataset.offset = String(message.offset);
        if (message.end) {
            element.dataset.done = "1";
        }
        element.dispatchEvent(new CustomEvent("gpupool:log", { bubbles: true }));
        if (follow && element.dataset.follow !== "0") {
            element.scrollTop = element.scrollHeight;
        }
    }

    function each(name, topic, act) {
        const wanted = "[data-" + name + "='" + CSS.escape(topic) + "']";
        document.querySelectorAll(wanted).forEach(act);
    }

    // Lists with filters of their own ask again by themselves; the first snapshot tells nothing new.
    function poke(message) {
        const known = poked.get(message.topic);
        poked.set(message.topic, message.event);
        if (known !== undefined && (message.event > known || message.html)) {
            each("live-poke", message.topic, function (element) {
                window.htmx.trigger(element, "gpupool:poke");
            });
        }
    }

    function take(message) {
        if (message.event) {
            lastEvent = Math.max(lastEvent, message.event);
        }
        if (message.topic === "toast") {
            window.gpupoolToast(message.level, message.text, message.url);
        } else if (typeof message.data === "string") {
            used.set(message.topic, JSON.parse(message.data));
            use();
        } else if (typeof message.html === "string") {
            each("live", message.topic, function (element) {
                swap(element, message.html);
            });
            poke(message);
        } else if (typeof message.text === "string") {
            each("log", message.topic, function (element) {
                log(element, message);
            });
        }
    }

    // Asks only for what the page shows anew: each answer is a whole snapshot.
    function say() {
        if (!socket || socket.readyState !== WebSocket.OPEN) {
            return;
        }
        const shown = topics();
        const fresh = shown.filter(function (topic) {
            return !subscribed.has(topic);
        });
        const gone = Array.from(subscribed).filter(function (topic) {
            return !shown.includes(topic);
        });
        if (gone.length) {
            gone.forEach(subscribed.delete, subscribed);
            socket.send(JSON.stringify({ unsubscribe: gone }));
        }
        if (fresh.length) {
            fresh.forEach(subscribed.add, subscribed);
            socket.send(JSON.stringify({ subscribe: fresh, event: lastEvent, cursor: cursors() }));
        }
    }

    function again() {
        socket = null;
        if (leaving) {
            return;
        }
        mark("lost");
        setTimeout(open, wait * (0.75 + Math.random() / 2));
        wait = Math.min(wait * 2, most);
    }

    function open() {
        if (socket || leaving || !topics().length) {
            return;
        }
        const scheme = window.location.protocol === "https:" ? "wss://" : "ws://";
        const line = new WebSocket(scheme + window.location.host + "/live/");
        socket = line;
        line.addEventListener("open", function () {
            heard = Date.now();
            wait = first;
            subscribed.clear();
            mark("open");
            say();
        });
        line.addEventListener("message", function (event) {
            heard = Date.now();
            take(JSON.parse(event.data));
        });
        line.addEventListener("close", again);
    }

    function watch() {
        if (socket && socket.readyState === WebSocket.OPEN && Date.now() - heard > silence) {
            socket.close();
        }
    }

    document.addEventListener("gpupool:swapped", use);
    document.addEventListener("DOMContentLoaded", function () {
        document.querySelectorAll("[data-log]").forEach(function (element) {
            element.scrollTop = element.scrollHeight;
        });
        open();
        setInterval(watch, 5000);
    });
    document.addEventListener("htmx:afterSettle", function () {
        use();
        if (socket) {
            say();
        } else {
            open();
        }
    });
    window.addEventListener("online", open);
    window.addEventListener("pagehide", function () {
        leaving = true;
        if (socket) {
            socket.close();
        }
    });
    window.addEventListener("pageshow", function (event) {
        if (event.persisted) {
            leaving = false;
            socket = null;
            open();
        }
    });
})();
