// Copy buttons: [data-copy] holds the text, or [data-copy-from] the id of what holds it.
(function () {
    "use strict";

    function source(button) {
        const from = button.dataset.copyFrom && document.getElementById(button.dataset.copyFrom);
        return from ? from.value || from.textContent : button.dataset.copy || "";
    }

    function fallback(text) {
        const area = document.createElement("textarea");
        area.value = text;
        area.className = "gp-offscreen";
        document.body.append(area);
        area.select();
        const done = document.execCommand("copy");
        area.remove();
        return done;
    }

    document.addEventListener("click", async function (event) {
        const button = event.target.closest("[data-copy], [data-copy-from]");
        if (!button) {
            return;
        }
        const text = source(button);
        try {
            await navigator.clipboard.writeText(text);
        } catch (refused) {
            fallback(text);
        }
        button.classList.add("gp-copied");
        window.gpupoolToast("success", button.dataset.copied || document.body.dataset.copied);
        setTimeout(function () {
            button.classList.remove("gp-copied");
        }, 1500);
    });
})();
