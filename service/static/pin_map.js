// A pin on a map beside the fields for latitude and longitude. The fields work without it; the map is fetched when it is opened.
"use strict";

(function () {
  const CLOSE = 16;
  const A_PLACE = 10; // from here on the middle of a map is a place; before, it may be a state that nobody meant
  const NEARER = 4;
  const STEP = 8;
  const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

  function number(field) {
    const value = Number.parseFloat(field.value.replace("\u2212", "-"));
    return Number.isFinite(value) ? value : null;
  }

  function prepare(part) {
    const lat = document.getElementById(part.dataset.lat);
    const lon = document.getElementById(part.dataset.lon);
    const [opener, middle] = ["open", "middle"].map(function (name) { return part.querySelector(`[data-${name}]`); });
    const [choice, far] = ["cities-shown", "far"].map(function (name) { return part.querySelector(`[data-${name}]`); });
    const [frame, canvas, said] = ["frame", "canvas", "said"].map(function (name) { return part.querySelector(`[data-${name}]`); });
    let L, map, pin;

    function typed() {
      const point = [number(lat), number(lon)];
      return point.includes(null) || Math.abs(point[0]) > 90 || Math.abs(point[1]) > 180 ? null : L.latLng(point);
    }

    function tell(point) {
      lat.value = point.lat.toFixed(6);
      lon.value = point.lng.toFixed(6);
      [lat, lon].forEach(function (field) {
        ["input", "change"].forEach(function (kind) { field.dispatchEvent(new Event(kind, { bubbles: true })); });
      });
      said.textContent = said.dataset.set.replace("%(lat)s", point.lat.toFixed(4)).replace("%(lon)s", point.lng.toFixed(4));
    }

    function moveByKeys(event) {
      const way = ARROWS[event.key];
      if (!way) {
        return;
      }
      event.preventDefault();
      event.stopPropagation(); // the map would move under the pin
      const step = event.shiftKey ? 1 : STEP;
      const at = map.latLngToContainerPoint(pin.getLatLng()).add([way[0] * step, way[1] * step]);
      pin.setLatLng(map.containerPointToLatLng(at));
      map.panInside(pin.getLatLng(), { padding: [40, 40], animate: false });
      tell(pin.getLatLng());
    }

    function put(point) {
      if (!pin) {
        const icon = L.divIcon({ className: "map-pin", html: part.querySelector("[data-pin]").innerHTML, iconSize: [44, 44], iconAnchor: [22, 42] });
        pin = L.marker(point, { icon, draggable: true, autoPan: true, title: canvas.dataset.pinName, alt: canvas.dataset.pinName }).addTo(map);
        pin.on("dragend", function () { tell(pin.getLatLng().wrap()); });
        pin.getElement().addEventListener("keydown", moveByKeys);
      }
      pin.setLatLng(point);
    }

    function follow() {
      const point = typed();
      if (point && (!pin || !pin.getLatLng().equals(point, 1e-6))) {
        put(point);
        map.setView(point, Math.max(map.getZoom(), CLOSE), { animate: false });
      }
    }

    function place(point) {
      put(point);
      tell(point);
    }

    // Without a street on the map, a city is found by its name.
    function offerCities(ground, outlines) {
      const list = choice.querySelector("select");
      const found = outlines ? outlines.getLayers() : [];
      found.forEach(function (city) {
        const { city: id, name } = city.feature.properties;
        list.add(new Option(name, id, false, id === part.dataset.city));
      });
      list.addEventListener("change", function () {
        const city = found.find(function (one) { return one.feature.properties.city === list.value; });
        if (city) {
          ground.showWhole(map, city.getBounds());
        }
      });
      choice.hidden = found.length < 2;
    }

    function mayHoldMiddle() {
      middle.disabled = map.getZoom() < A_PLACE;
      far.hidden = !middle.disabled;
    }

    async function open() {
      opener.disabled = true;
      said.textContent = said.dataset.loading;
      try {
        const ground = await import(part.dataset.ground);
        const opened = await ground.openMap(canvas, part.dataset);
        L = opened.L;
        map = opened.map;
        frame.hidden = false;
        map.invalidateSize({ animate: false });
        const bounds = opened.cities && opened.cities.getLayers().find(function (one) { return one.feature.properties.city === part.dataset.city; });
        if (bounds || opened.cities) {
          ground.showWhole(map, (bounds || opened.cities).getBounds());
        }
        offerCities(ground, opened.cities);
        map.on("zoomend", mayHoldMiddle);
        mayHoldMiddle();
        follow();
        map.on("click", function (event) {
          place(event.latlng.wrap());
          if (map.getZoom() < CLOSE) { // a tap on a far view is a first guess: the next one is nearer
            map.setView(pin.getLatLng(), Math.min(map.getZoom() + NEARER, CLOSE));
          }
        });
        middle.addEventListener("click", function () {
          place(map.getCenter().wrap());
          pin.getElement().focus();
        });
        [lat, lon].forEach(function (field) { field.addEventListener("change", follow); });
        opener.parentElement.hidden = true;
        said.textContent = "";
        canvas.focus({ preventScroll: true });
      } catch {
        opener.disabled = false;
        said.textContent = said.dataset.failed;
      }
    }

    part.hidden = false;
    opener.addEventListener("click", open);
  }

  document.querySelectorAll("[data-pin-map]").forEach(prepare);
})();
