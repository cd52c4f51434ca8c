/* wicket.js - keeps an open page true: clocks go on, and parts that have changed are fetched again.
   Nothing depends on it. Parts carry data-part; what is being typed in is never replaced. */
"use strict";

(function () {
  const main = document.getElementById("main");
  const units = [[86400, "days"], [3600, "h"], [60, "min"], [1, "s"]];

  function span(seconds) {
    const unit = units.find(function (u) { return seconds >= u[0] * (u[0] === 60 ? 1 : 2); }) || units[3];
    return Math.floor(seconds / unit[0]) + " " + unit[1];
  }

  function tick(page) {
    const now = Date.now();
    page.querySelectorAll("[data-until]").forEach(function (node) {
      const seconds = Math.floor((Date.parse(node.dataset.until) - now) / 1000);
      node.textContent = seconds > 0 ? span(seconds) + " left" : "no time left";
      node.className = seconds < 300 ? "soon" : "";
    });
    page.querySelectorAll("[data-since]").forEach(function (node) {
      const seconds = Math.floor((now - Date.parse(node.dataset.since)) / 1000);
      node.textContent = seconds > 0 ? span(seconds) + " ago" : "just now";
    });
  }

  function isTyped(part) {
    return Array.from(part.querySelectorAll("textarea, input:not([type=hidden])")).some(function (field) {
      return field.value !== field.defaultValue || field === document.activeElement;
    });
  }

  function put(page) {
    tick(page); /* so that time alone is no difference */
    tick(document);
    document.querySelectorAll("[data-part]").forEach(function (part) {
      const fresh = page.querySelector("[data-part=" + part.dataset.part + "]");
      if (fresh && !part.isEqualNode(fresh) && !isTyped(part)) {
        part.replaceWith(document.adoptNode(fresh));
      } else if (!fresh && part.dataset.part === "jump") {
        part.remove();
      }
    });
    const title = page.querySelector("title");
    if (title) {
      document.title = title.textContent;
    }
  }

  let asking = false;
  let again = false;

  /* One question at a time; what changes meanwhile asks once more. */
  function refresh() {
    if (asking) {
      again = true;
      return;
    }
    asking = true;
    fetch(location.href, { headers: { "X-Live": "1", Accept: "text/html" }, redirect: "error" })
      .then(function (answer) { return answer.ok ? answer.text() : null; })
      .then(function (text) {
        if (text !== null) {
          put(new DOMParser().parseFromString(text, "text/html"));
        }
      })
      .catch(function () { /* the next change tries again */ })
      .finally(function () {
        asking = false;
        if (again) {
          again = false;
          refresh();
        }
      });
  }

  const events = new EventSource("/events");
  events.addEventListener("change", refresh);
  events.addEventListener("open", function () {
    main.dataset.connected = "yes";
    refresh(); /* what changed before it listened */
  });
  events.addEventListener("error", function () { main.dataset.connected = "no"; });
  setInterval(function () { tick(document); }, 1000);
})();
