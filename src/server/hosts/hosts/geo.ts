// Looks up the location of a host's public address in a MaxMind database. Without a database, replies contain no
// location.
import { readFile, stat } from "node:fs/promises";
import type { CityResponse, Reader } from "maxmind";
import type { HostGeolocation } from "../../../api/hosts/host.ts";
import { messageOf } from "../../../text/error-message.ts";
import { minutes } from "../../platform/core/clock.ts";
import type { Services } from "../../platform/core/context.ts";
import { startedPart } from "../../platform/core/running.ts";
import { BadSetting } from "../../platform/core/security/tls.ts";

type Deps = Pick<Services, "settings" | "clock" | "log" | "running">;

interface Geo {
  reader: Reader<CityResponse>;
  /** Detects whether the file has changed since it was read. */
  stamp: string;
  lookedAt: number;
  looking: boolean;
}

/** How often the file is checked. A newer file is loaded without a restart. */
const LOOK_EVERY = minutes(1);

/** The database that the settings name, if any. The server does not start if the file cannot be read. */
export const geoDatabase = startedPart("geo-IP database", async ({ settings, clock }): Promise<Geo | null> => {
  const file = settings.geoip_database;
  return file === undefined ? null : { ...(await read(file)), lookedAt: clock.now(), looking: false };
});

async function read(file: string): Promise<Pick<Geo, "reader" | "stamp">> {
  const { Reader } = await import("maxmind");
  try {
    const stamp = await stampOf(file);
    const reader = new Reader<CityResponse>(await readFile(file));
    // A truncated file often fails only when an address is looked up.
    for (const address of ["1.1.1.1", "223.255.255.254"]) reader.get(address);
    return { reader, stamp };
  } catch (error) {
    const reason = messageOf(error);
    throw new BadSetting(`geoip_database: ${file} cannot be read as a MaxMind database: ${reason}`);
  }
}

async function stampOf(file: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(file);
  return `${mtimeMs} ${size} ${ino}`;
}

/** Undefined if no database is configured or the database has no entry for the address. */
export function geolocationOf(services: Deps, address: string): HostGeolocation | undefined {
  const geo = services.running.find(geoDatabase);
  if (geo === null || address === "") return undefined;
  lookAgain(services, geo);
  // A database of IPv4 addresses would match an IPv6 address by its first bits.
  if (geo.reader.metadata.ipVersion === 4 && address.includes(":")) return undefined;
  let city: CityResponse | null;
  try {
    city = geo.reader.get(address);
  } catch (error) {
    services.log.warn({ err: error }, "the geo-IP database lookup failed");
    return undefined;
  }
  return city === null ? undefined : onWire(city);
}

/** Reloads the file in the background. The current request uses the data that is already loaded. */
function lookAgain({ settings, clock, log }: Deps, geo: Geo): void {
  const file = settings.geoip_database;
  if (file === undefined || geo.looking || clock.now() - geo.lookedAt < LOOK_EVERY) return;
  geo.looking = true;
  geo.lookedAt = clock.now();
  const look = async () => {
    if ((await stampOf(file)) === geo.stamp) return;
    Object.assign(geo, await read(file));
    log.info({ file }, "the geo-IP database was reloaded");
  };
  look()
    .catch((error: unknown) =>
      log.warn({ err: error }, "the geo-IP database could not be reloaded; the loaded one stays in use"),
    )
    .finally(() => {
      geo.looking = false;
    });
}

/** Undefined if the entry has neither a country nor a location: the database is of another kind. */
function onWire({ country, registered_country, city, location }: CityResponse): HostGeolocation | undefined {
  if (!country && !registered_country && !location) return undefined;
  const at = location && Number.isFinite(location.longitude) && Number.isFinite(location.latitude);
  return {
    country_iso: country?.iso_code ?? registered_country?.iso_code ?? "",
    city_name: city?.names?.en ?? "",
    ...(at ? { geometry: { type: "Point", coordinates: [location.longitude, location.latitude] } } : {}),
  };
}
