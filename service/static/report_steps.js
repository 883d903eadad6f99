// On a phone the form is asked one step at a time. At a desk, and without this script, it is whole.
"use strict";

(function () {
  const form = document.querySelector("form[data-spill-report]");
  if (!form) {
    return;
  }
  const one = function (name) { return form.querySelector(`[data-${name}]`); };
  const steps = Array.from(form.querySelectorAll("[data-step]"));
  const [back, next, send, early, indicator] = ["back", "next", "send", "early", "step-indicator"].map(one);
  const title = document.title;
  const phone = matchMedia("(max-width: 39.99rem)");
  let current = 0;

  function hideUnless(name, shown) {
    document.querySelectorAll(`[data-${name}]`).forEach(function (part) { part.hidden = !shown; });
  }

  function draw() {
    const stepped = phone.matches;
    form.classList.toggle("stepped", stepped);
    const last = current === steps.length - 1;
    steps.forEach(function (step, number) {
      step.hidden = stepped && number !== current;
      const count = step.querySelector("[data-step-count]");
      count.hidden = !stepped;
      count.textContent = form.dataset.saysStep.replace("%(step)s", String(number + 1)).replace("%(steps)s", String(steps.length)) + " ";
    });
    hideUnless("first-only", !stepped || current === 0);
    hideUnless("last-only", !stepped || last);
    back.hidden = !stepped || current === 0;
    next.hidden = !stepped || last;
    send.hidden = stepped && !last;
    early.hidden = !stepped || last || current === 0;
    indicator.hidden = !stepped;
    Array.from(indicator.querySelectorAll("li")).forEach(function (segment, number) {
      segment.classList.toggle("usa-step-indicator__segment--complete", number < current);
      segment.classList.toggle("usa-step-indicator__segment--current", number === current);
    });
    document.title = stepped && current ? `${steps[current].querySelector("h2").textContent.trim()} – ${title}` : title;
    remind();
  }

  // Only a hint: whoever sends no place has their reasons.
  function remind() {
    const said = ["address", "lat", "lon"].some(function (name) { return form.elements[name].value.trim(); });
    const begun = phone.matches ? current === steps.length - 1 : form.elements.description.value.trim();
    one("no-place").hidden = Boolean(said || !begun);
  }

  function show(number, focused) {
    current = Math.min(Math.max(number, 0), steps.length - 1);
    form.dispatchEvent(new CustomEvent("step", { detail: current }));
    draw();
    if (focused) {
      const heading = steps[current].querySelector("h2");
      heading.focus({ preventScroll: true });
      (current ? indicator : document.getElementById("main")).scrollIntoView();
    }
  }

  function go(number) {
    if (number !== current) {
      history.pushState({ step: number }, "", `#step-${number + 1}`);
    }
    show(number, true);
  }

  function stepOf(element) {
    return steps.findIndex(function (step) { return step.contains(element); });
  }

  steps.forEach(function () {
    const segment = document.createElement("li");
    segment.className = "usa-step-indicator__segment";
    indicator.querySelector("ol").append(segment);
  });
  next.addEventListener("click", function () { go(current + 1); });
  // The browser's own way back and this one are the same.
  back.addEventListener("click", function () {
    if (history.state && history.state.step === current) {
      history.back();
    } else {
      go(current - 1);
    }
  });
  window.addEventListener("popstate", function (event) { show(event.state ? event.state.step || 0 : 0, phone.matches); });
  phone.addEventListener("change", draw);
  form.addEventListener("input", remind);
  // Enter in a field goes on, as "Next" does; it would send a report that has only begun.
  form.addEventListener("keydown", function (event) {
    const typed = event.target.matches("input:not([type=radio], [type=checkbox], [type=file])");
    if (event.key === "Enter" && typed && phone.matches && current < steps.length - 1) {
      event.preventDefault();
      go(current + 1);
    }
  });
  // Links to a field open its step.
  document.querySelectorAll("[data-problem] a[href^='#'], [data-no-place] a").forEach(function (link) {
    link.addEventListener("click", function (event) {
      const field = document.querySelector(link.getAttribute("href"));
      if (phone.matches && field) {
        event.preventDefault();
        go(stepOf(field));
        field.focus();
      }
    });
  });
  // Where the report waits for signal, "just now" stays the moment at which it was chosen, by the clock of the server.
  const skew = Date.parse(document.documentElement.dataset.now) - Date.now();
  form.addEventListener("change", function (event) {
    if (event.target.name === "seen") {
      const chosen = new Date(Date.now() + (Math.abs(skew) > 5000 ? skew : 0));
      form.elements.seen_chosen_at.value = chosen.toISOString().replace(/\.\d+Z/, "Z");
    }
  });
  // A form that has come back with a problem, or is empty, begins at its beginning.
  const kept = form.dataset.step ? Number(form.dataset.step) : 0;
  history.replaceState({ step: kept }, "");
  show(kept, false);
})();
