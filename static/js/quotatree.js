// The quota tree: sums follow every key, what a change brings is asked for when one pauses.
(function () {
    "use strict";
    let pause = 0;

    function number(text) {
        const value = parseFloat(text.trim().replace(",", "."));
        return Number.isFinite(value) && value >= 0 ? value : null;
    }

    function sums(form) {
        form.querySelectorAll("[data-sum]").forEach(function (place) {
            const kind = place.dataset.sum;
            const key = place.dataset.sumOf;
            const named = '[data-value="' + kind + '"]';
            let sum = null;
            form.querySelectorAll(named + '[data-parent="' + CSS.escape(key) + '"]').forEach(function (field) {
                const value = number(field.value);
                sum = value === null ? sum : (sum || 0) + value;
            });
            if (sum === null) {
                return;
            }
            const own = form.querySelector(named + '[data-of="' + CSS.escape(key) + '"]');
            const most = own ? number(own.value) : null;
            place.textContent = Math.round(sum * 1000) / 1000 + " " + place.dataset.words;
            place.classList.toggle("gp-wait-ink", most !== null && sum > most);
        });
    }

    function judge(form) {
        window.htmx.ajax("POST", "/quotas/tree/judged/?" + form.dataset.query, {
            source: form,
            target: "#strip",
        });
    }

    document.addEventListener("input", function (event) {
        const form = event.target.closest("[data-tree]");
        if (!form || !event.target.name || !event.target.name.includes("|")) {
            return;
        }
        const was = form.elements["was:" + event.target.name];
        event.target.classList.toggle("gp-changed", Boolean(was) && was.value !== event.target.value.trim());
        sums(form);
        clearTimeout(pause);
        pause = setTimeout(function () {
            judge(form);
        }, 400);
    });
    document.addEventListener("change", function (event) {
        if (event.target.matches("[data-autosend]")) {
            event.target.form.requestSubmit();
        }
    });
    document.addEventListener("htmx:afterSwap", function (event) {
        if (event.detail.target.id === "tree-table") {
            const form = document.getElementById("tree");
            sums(form);
            judge(form);
        }
    });
})();
