import { mix, Random } from "../random.ts";
import { type Hardware, hardwareFor, type Platform, type Release } from "./platforms.ts";

export type MachineSettings = {
  seed: number;
  platforms: { value: Platform; weight: number }[];
  softwarePerHost: number;
  quirks: boolean;
  /** The share of hosts with a managed agent beside the stock one. */
  managed: number;
};

const VERSIONS = [
  { value: "5.23.0", weight: 40 },
  { value: "5.21.0", weight: 20 },
  { value: "5.17.0", weight: 20 },
  { value: "5.12.1", weight: 20 },
];
const OLD_VERSION = "4.3.0";

const PLACES = [
  "ams",
  "ber",
  "cpt",
  "del",
  "gru",
  "hel",
  "icn",
  "lis",
  "mex",
  "nbo",
  "nyc",
  "osl",
  "prg",
  "sfo",
  "syd",
  "yyz",
];
export const PEOPLE = (
  "ada bela chen dara emil fatou goran hana ines jomo kofi lena mira nils odile pavel qadir rosa sven tariq uma viktor wanda " +
  "xenia yusuf zoe"
).split(" ");

/** The constant properties of a machine. They are a pure function of seed and index, so they need not be stored. */
export class Machine {
  readonly index: number;
  readonly seed: number;
  readonly platform: Platform;
  readonly release: Release;
  readonly hardware: Hardware;
  readonly hostname: string;
  readonly computerName: string;
  readonly uuid: string;
  readonly instanceId: string;
  readonly serial: string;
  readonly agentVersion: string;
  /** An agent before version 5: it sends statuses as text, and "" if there are no rows. */
  readonly old: boolean;
  readonly managed: boolean;
  readonly owner: string;
  readonly softwarePerHost: number;

  constructor(settings: MachineSettings, index: number) {
    const random = new Random(mix(settings.seed, index, 1));
    this.index = index;
    this.seed = mix(settings.seed, index, 2);
    this.platform = random.weighted(settings.platforms);
    this.release = random.pick(this.platform.releases);
    this.hardware = hardwareFor(this.platform.family, random);
    this.owner = random.pick(PEOPLE);
    const number = String(index + 1).padStart(5, "0");
    this.hostname = nameOf(this.platform, random.pick(PLACES), this.owner, number);
    this.computerName =
      this.platform.family === "darwin" ? `${capital(this.owner)}'s Mac ${number}` : shortName(this.hostname);
    this.uuid = random.uuid().toUpperCase();
    this.instanceId = random.uuid();
    this.agentVersion = random.weighted(VERSIONS);
    this.managed = random.chance(settings.managed);
    const serial = random.hex(10).toUpperCase();
    const draw = random.next();
    this.serial = !settings.quirks || draw >= 0.15 ? serial : draw < 0.1 ? "" : "-1";
    this.old = settings.quirks && random.chance(0.05);
    if (this.old) this.agentVersion = OLD_VERSION;
    this.softwarePerHost = settings.softwarePerHost;
  }

  /** On one of ten managed agents, scripts are disabled. */
  get runsScripts(): boolean {
    return this.seed % 10 !== 0;
  }

  get platformType(): string {
    return { darwin: "21", linux: "9", windows: "2" }[this.platform.family];
  }

  /** A generator per topic, so that a new table does not change the data of others. */
  random(topic: number): Random {
    return new Random(mix(this.seed, topic));
  }
}

function nameOf(platform: Platform, place: string, owner: string, number: string): string {
  if (platform.family === "windows") return `${place.toUpperCase()}-W${number}`;
  if (platform.family === "darwin") return `${owner}-mac-${number}.local`;
  return `${platform.key}-${number}.${place}.example.com`;
}

function shortName(hostname: string): string {
  return hostname.split(".")[0] as string;
}

function capital(name: string): string {
  return name[0]!.toUpperCase() + name.slice(1);
}
