// The written report saves itself while it is typed. Without this script the button "Save draft" does the same.
"use strict";

(function () {
  const form = document.querySelector("form[data-report]");
  const status = document.getElementById("draft-status");
  if (!form || !window.fetch || !window.URLSearchParams) {
    return;
  }
  const says = form.dataset;
  const revision = form.elements.revision;
  const contested = new Set();
  const PAUSE = 1500;
  const AGAIN = 15000;
  let timer = 0;
  let sending = false;

  const field = function (item) { return form.elements["item." + item]; };

  function later(pause) {
    clearTimeout(timer);
    timer = setTimeout(save, pause);
  }

  form.addEventListener("input", function (event) {
    if (event.target.type !== "file" && event.target.type !== "checkbox") {
      later(PAUSE);
    }
  });

  function button(words, act) {
    const made = document.createElement("button");
    made.className = "usa-button usa-button--outline";
    made.type = "button";
    made.textContent = words;
    made.addEventListener("click", act);
    return made;
  }

  // Both texts stand on the page, and nothing is saved until one of them is chosen.
  function contest(item, text, who) {
    const group = field(item).closest(".usa-form-group");
    const part = document.createElement("div");
    const label = document.createElement("p");
    const quote = document.createElement("blockquote");
    const choice = document.createElement("p");
    function settle() {
      contested.delete(item);
      part.remove();
      group.classList.remove("usa-form-group--error");
      field(item).focus();
      later(0);
    }
    part.className = "theirs";
    label.className = "usa-hint";
    label.textContent = says.saysOther.replace("%(who)s", who);
    quote.className = "said";
    quote.dir = "auto";
    quote.textContent = text;
    choice.className = "actions";
    choice.append(button(says.saysMine, settle), button(says.saysTheirs, function () {
      field(item).value = text;
      settle();
    }));
    part.append(label, quote, choice);
    group.querySelectorAll(".theirs").forEach(function (old) { old.remove(); });
    group.append(part);
    group.classList.add("usa-form-group--error");
    contested.add(item);
  }

  // What others wrote is taken over where nothing was typed since. Where something was, the old revision stays: the next save finds it.
  function settleInto(told, sent) {
    let whole = true;
    Object.keys(told.marks).forEach(function (item) {
      const theirs = told.others[item];
      if (theirs !== undefined && field(item).value !== sent.get("item." + item)) {
        whole = false;
        return;
      }
      if (theirs !== undefined) {
        field(item).value = theirs;
      }
      form.elements["mark." + item].value = told.marks[item];
    });
    if (whole) {
      revision.value = told.revision;
    }
  }

  async function save() {
    if (contested.size) {
      return;
    }
    if (sending) {
      later(PAUSE);
      return;
    }
    sending = true;
    const sent = new URLSearchParams();
    new FormData(form).forEach(function (value, name) {
      if (typeof value === "string" && name !== "certify") {
        sent.append(name, value);
      }
    });
    // As the field has it, not as a form sends it: line ends are compared below.
    Array.from(sent.keys()).filter(function (name) { return name.startsWith("item."); }).forEach(function (name) {
      sent.set(name, form.elements[name].value);
    });
    try {
      const headers = { Accept: "application/json" };
      const answer = await fetch(says.report, { method: "POST", body: sent, headers: headers, credentials: "same-origin" });
      const told = await answer.json();
      if (answer.status === 409 && told.theirs) {
        settleInto(told, sent);
        Object.keys(told.theirs).forEach(function (item) { contest(item, told.theirs[item], told.who[item]); });
        status.textContent = says.saysContested;
      } else if (answer.ok) {
        settleInto(told, sent);
        status.textContent = told.says;
      } else {
        throw new Error(String(answer.status));
      }
    } catch {
      status.textContent = says.saysOffline;
      later(AGAIN);
    } finally {
      sending = false;
    }
  }

  // A form that is sent by hand is not saved once more behind it.
  form.addEventListener("submit", function () { clearTimeout(timer); });
})();
