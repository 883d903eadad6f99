// The ground that every map here stands on: Leaflet, fetched only when a map is opened, the boundaries of the cities, and tiles where the
// operator set a server for them. Without one, nothing is asked of any other site.

export const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

function style(address, put) {
  return new Promise(function (done, failed) {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = address;
    link.onload = done;
    link.onerror = failed;
    put(link);
  });
}

function script(address) {
  return new Promise(function (done, failed) {
    const part = document.createElement("script");
    part.src = address;
    part.onload = done;
    part.onerror = failed;
    document.head.append(part);
  });
}

function text(words) {
  const part = document.createElement("span");
  part.textContent = words;
  return part.innerHTML;
}

function meet(one, other) {
  return one.right > other.left && one.left < other.right && one.bottom > other.top && one.top < other.bottom;
}

function hideCutNames(element) {
  const frame = element.getBoundingClientRect();
  const buttons = Array.from(element.querySelectorAll(".leaflet-control-zoom"), function (part) { return part.getBoundingClientRect(); });
  element.querySelectorAll(".map-name").forEach(function (name) {
    const at = name.getBoundingClientRect();
    const isWhole = at.left >= frame.left && at.right <= frame.right && at.top >= frame.top && at.bottom <= frame.bottom;
    name.classList.toggle("map-cut", !isWhole || buttons.some(function (button) { return meet(at, button); }));
  });
}

// Where a map of spills begins: with the whole of the cities that they are in, and with some miles around one whose city has no outline here.
// Room is left for the buttons in the corner, which would lie over a name or a sign.
const SURROUNDINGS = 6000; // metres across
export function showAround(L, map, outlines, spills) {
  const seen = L.latLngBounds([]);
  const cities = outlines ? outlines.getLayers() : [];
  spills.forEach(function (spill) {
    const city = cities.find(function (one) { return one.feature.properties.city === spill.properties.city; });
    seen.extend(spill.point).extend(city ? city.getBounds() : spill.point.toBounds(SURROUNDINGS));
  });
  showWhole(map, seen);
}

export function showWhole(map, bounds) {
  map.fitBounds(bounds, { maxZoom: 14, paddingTopLeft: [20, 20], paddingBottomRight: [64, 20], animate: false });
}

async function cities(L, map, address) {
  const answer = await fetch(address);
  if (!answer.ok) {
    return null;
  }
  return L.geoJSON(await answer.json(), {
    interactive: false,
    style: { className: "map-city" },
    onEachFeature: function (feature, layer) {
      layer.bindTooltip(text(feature.properties.name), { permanent: true, direction: "center", className: "map-name", interactive: false });
    },
  }).addTo(map);
}

// Opens a map in an element. `given` is the dataset of its host, written by the macro `ground` in map_parts.html.
// Returns {L, map, cities}; rejects where Leaflet cannot be had.
export async function openMap(element, given) {
  await Promise.all([
    window.L ? null : script(given.leaflet),
    document.querySelector(`link[href="${given.leafletCss}"]`) ? null : style(given.leafletCss, (link) => document.head.prepend(link)),
    document.querySelector(`link[href="${given.mapCss}"]`) ? null : style(given.mapCss, (link) => document.head.append(link)), // changes some of Leaflet's
  ]);
  const L = window.L;
  const map = L.map(element, {
    zoomControl: false, minZoom: 3, maxZoom: 18, zoomAnimation: !still, fadeAnimation: false, markerZoomAnimation: !still, inertia: !still,
  });
  map.attributionControl.setPrefix(false);
  L.control.zoom({ position: "bottomright", zoomInTitle: given.zoomIn, zoomOutTitle: given.zoomOut }).addTo(map);
  if (given.tiles) {
    // The tile server learns which site its tiles are for, as some ask, and never which page.
    L.tileLayer(given.tiles, { attribution: text(given.credit), referrerPolicy: "origin", maxZoom: 18 }).addTo(map);
  }
  // Names of cities only where they do not cover everything, and where the whole of one can be read.
  map.on("zoomend", function () { element.classList.toggle("map-far", map.getZoom() < 10); });
  map.on("zoomend moveend resize layeradd", function () { requestAnimationFrame(function () { hideCutNames(element); }); });
  map.setView([37, -96], 4, { animate: false });
  let found = null;
  try {
    found = await cities(L, map, given.cities);
  } catch {
    found = null; // a map without boundaries is a map still
  }
  return { L, map, cities: found };
}
