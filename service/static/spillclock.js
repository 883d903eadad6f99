// Small help where scripts run. Every page works without it.
"use strict";

(function () {
  // A form is sent once, however often its button is pressed. A page that comes back from the browser's memory may send again.
  document.querySelectorAll("form[data-once]").forEach(function (form) {
    form.addEventListener("submit", function (event) {
      if (form.dataset.sent) {
        event.preventDefault();
      }
      form.dataset.sent = "yes";
    });
  });
  window.addEventListener("pageshow", function () {
    document.querySelectorAll("form[data-once]").forEach(function (form) { delete form.dataset.sent; });
  });

  // A form that only carries on what somebody did elsewhere goes by itself.
  document.querySelectorAll("form[data-go-on]").forEach(function (form) { form.submit(); });

  // The position of this device, asked for only when the button is pressed.
  document.querySelectorAll("[data-locate]").forEach(function (part) {
    if (!navigator.geolocation) {
      return;
    }
    const said = part.querySelector("[role=status]");
    const lat = document.getElementById("lat");
    const lon = document.getElementById("lon");
    part.hidden = false;
    part.querySelector("button").addEventListener("click", function () {
      said.textContent = said.dataset.asking;
      navigator.geolocation.getCurrentPosition(
        function (found) {
          lat.value = found.coords.latitude.toFixed(6);
          lon.value = found.coords.longitude.toFixed(6);
          lat.dispatchEvent(new Event("change", { bubbles: true })); // a map that is open follows
          lat.closest("details").open = true;
          said.textContent = said.dataset.found;
        },
        function () { said.textContent = said.dataset.failed; },
        { enableHighAccuracy: true, timeout: 15000, maximumAge: 60000 }
      );
    });
  });

  // Copying an address: of this page, or of the named field.
  document.querySelectorAll("[data-copy]").forEach(function (part) {
    if (!navigator.clipboard) {
      return;
    }
    const said = part.querySelector("[role=status]");
    part.hidden = false;
    part.querySelector("button").addEventListener("click", function () {
      const field = document.getElementById(part.dataset.copy);
      navigator.clipboard.writeText(field ? field.value : location.origin + location.pathname).then(function () {
        said.textContent = said.dataset.done;
      }, function () { if (field) { field.select(); } });
    });
  });

  // Clocks count down, in the words the page came with. The server's time counts, not that of a device that goes wrong.
  const skew = Date.parse(document.documentElement.dataset.now) - Date.now();
  const wrong = Math.abs(skew) > 5000 ? skew : 0;
  const language = document.documentElement.lang;
  const units = [["day", 86400, Infinity], ["hour", 3600, 24], ["minute", 60, 60], ["second", 1, 60]];

  function words(seconds) {
    const told = units.map(function (unit) {
      const number = Math.floor(seconds / unit[1]) % unit[2];
      return number ? new Intl.NumberFormat(language, { style: "unit", unit: unit[0], unitDisplay: "long" }).format(number) : "";
    }).filter(Boolean);
    return told.slice(0, 2).join(" ");
  }

  function count() {
    document.querySelectorAll("[data-due]").forEach(function (clock) {
      const left = Math.round((Date.parse(clock.dataset.due) - Date.now() - wrong) / 1000);
      const said = left > 0 ? clock.dataset.left : clock.dataset.over;
      if (left !== 0) {
        clock.textContent = said.replace("%(span)s", words(Math.abs(left)));
      }
      clock.classList.toggle("overdue", left < 0);
    });
  }

  if (window.Intl && document.querySelector("[data-due]")) {
    setInterval(count, 1000);
  }
})();
