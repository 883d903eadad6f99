// Passkeys: asks the device for one, and sends its answer by the form. Without scripts, or in a browser without passkeys, nothing is offered.
"use strict";

(function () {
  const forms = document.querySelectorAll("form[data-passkey]");
  if (!forms.length || !window.PublicKeyCredential || !navigator.credentials || !window.fetch) {
    return;
  }

  // JSON carries bytes as base64url.
  function bytes(text) {
    const plain = atob(text.replace(/-/g, "+").replace(/_/g, "/"));
    return Uint8Array.from(plain, function (letter) { return letter.charCodeAt(0); });
  }

  function text(buffer) {
    const plain = Array.from(new Uint8Array(buffer), function (one) { return String.fromCharCode(one); }).join("");
    return btoa(plain).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  }

  function asked(options) {
    options.challenge = bytes(options.challenge);
    if (options.user) {
      options.user.id = bytes(options.user.id);
    }
    ["allowCredentials", "excludeCredentials"].forEach(function (list) {
      (options[list] || []).forEach(function (one) { one.id = bytes(one.id); });
    });
    return { publicKey: options };
  }

  function answered(key) {
    const response = {};
    ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"].forEach(function (part) {
      if (key.response[part]) {
        response[part] = text(key.response[part]);
      }
    });
    return JSON.stringify({ id: key.id, rawId: text(key.rawId), type: key.type, response: response });
  }

  // What the server says is wrong, in its words, as a sentence.
  function refusal(problem) {
    const words = (problem.errors || [problem.detail]).join(" ");
    return words.charAt(0).toUpperCase() + words.slice(1) + ".";
  }

  function tell(said, words, wrong) {
    said.textContent = words;
    said.className = wrong ? "usa-error-message" : "quiet";
  }

  async function go(form, said) {
    const begun = await fetch(form.dataset.begin, {
      method: "POST", body: new URLSearchParams(new FormData(form)), headers: { Accept: "application/json" }
    });
    if (!/json/.test(begun.headers.get("Content-Type") || "")) {
      location.reload(); // the session is over: the page leads to where one signs in
      return;
    }
    const told = await begun.json();
    if (!begun.ok) {
      tell(said, refusal(told), true);
      return;
    }
    tell(said, said.dataset.asking, false);
    try {
      form.elements.answer.value = answered(await navigator.credentials[form.dataset.passkey](asked(told)));
    } catch (error) {
      tell(said, (error.name === "InvalidStateError" && said.dataset.known) || said.dataset.failed, true);
      return;
    }
    form.submit();
  }

  forms.forEach(function (form) {
    const said = form.querySelector("[role=status]");
    let busy = false; // one question at a time, however often the button is pressed
    form.addEventListener("submit", function (event) {
      event.preventDefault();
      if (busy) {
        return;
      }
      busy = true;
      go(form, said).catch(function () { tell(said, said.dataset.failed, true); }).finally(function () { busy = false; });
    });
  });
  document.querySelectorAll("[data-with-passkeys]").forEach(function (part) { part.hidden = false; });
  document.querySelectorAll("[data-without-passkeys]").forEach(function (part) { part.hidden = true; });
})();
