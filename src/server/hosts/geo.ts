// Where a host's public address is, by a database in MaxMind's format. Without one nothing is said of it.
import { readFile, stat } from "node:fs/promises";
import type { CityResponse, Reader } from "maxmind";
import type { HostGeolocation } from "../../api/host.ts";
import { minutes } from "../core/clock.ts";
import type { Services } from "../core/context.ts";
import { BadSetting } from "../core/tls.ts";

type Holder = Pick<Services, "settings" | "clock" | "log" | "config">;

interface Geo {
  reader: Reader<CityResponse>;
  /** Tells whether the file is still the one that was read. */
  stamp: string;
  lookedAt: number;
  looking: boolean;
}

/** How often the file is looked at: a newer one is taken without a restart. */
const LOOK_EVERY = minutes(1);

/** One per server, as with `sharing`. */
const servers = new WeakMap<Services["config"], Geo>();

/** Opens the database that the settings name; what cannot be read stops the start. */
export async function openGeo(services: Holder): Promise<void> {
  const { settings, clock, config } = services;
  const file = settings.geoip_database;
  if (file === undefined) return;
  servers.set(config, { ...(await read(file)), lookedAt: clock.now(), looking: false });
}

async function read(file: string): Promise<Pick<Geo, "reader" | "stamp">> {
  const { Reader } = await import("maxmind");
  try {
    const stamp = await stampOf(file);
    const reader = new Reader<CityResponse>(await readFile(file));
    // A file that was cut short often shows it only when something is looked up.
    for (const address of ["1.1.1.1", "223.255.255.254"]) reader.get(address);
    return { reader, stamp };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new BadSetting(`geoip_database: ${file} cannot be read as a MaxMind database: ${reason}`);
  }
}

async function stampOf(file: string): Promise<string> {
  const { mtimeMs, size, ino } = await stat(file);
  return `${mtimeMs} ${size} ${ino}`;
}

/** Undefined: no database is configured, or it does not know the address. */
export function geolocationOf(services: Holder, address: string): HostGeolocation | undefined {
  const geo = servers.get(services.config);
  if (geo === undefined || address === "") return undefined;
  lookAgain(services, geo);
  // A tree of IPv4 addresses would answer for any other by its first bits.
  if (geo.reader.metadata.ipVersion === 4 && address.includes(":")) return undefined;
  let found: CityResponse | null;
  try {
    found = geo.reader.get(address);
  } catch (error) {
    services.log.warn({ err: error }, "the geo-IP database could not be asked");
    return undefined;
  }
  return found === null ? undefined : onWire(found);
}

/** In the background: who asks now gets what is known now. */
function lookAgain({ settings, clock, log }: Holder, geo: Geo): void {
  const file = settings.geoip_database;
  if (file === undefined || geo.looking || clock.now() - geo.lookedAt < LOOK_EVERY) return;
  geo.looking = true;
  geo.lookedAt = clock.now();
  const look = async () => {
    if ((await stampOf(file)) === geo.stamp) return;
    Object.assign(geo, await read(file));
    log.info({ file }, "the geo-IP database was read again");
  };
  look()
    .catch((error: unknown) =>
      log.warn({ err: error }, "the geo-IP database could not be read again; the old one stays"),
    )
    .finally(() => {
      geo.looking = false;
    });
}

/** Undefined where the entry tells neither country nor place: a database of something else. */
function onWire({ country, registered_country, city, location }: CityResponse): HostGeolocation | undefined {
  if (!country && !registered_country && !location) return undefined;
  const at = location && Number.isFinite(location.longitude) && Number.isFinite(location.latitude);
  return {
    country_iso: country?.iso_code ?? registered_country?.iso_code ?? "",
    city_name: city?.names?.en ?? "",
    ...(at ? { geometry: { type: "Point", coordinates: [location.longitude, location.latitude] } } : {}),
  };
}
