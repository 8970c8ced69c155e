// The server's state in the form in which the desired state is built and compared with it.
import type { ConfigurationState, ThingKey } from "../../api/edge/configuration.ts";
import type { GitopsExceptions } from "../../api/settings/app-config.ts";
import type { Json } from "../../text/differences.ts";
import { isRecord } from "../../text/record.ts";
import type { Place, Problems } from "../files/problems.ts";
import { keyOf, type Thing } from "../plan/diff.ts";
import { isExcepted } from "../schema/exceptions.ts";

/** The server's state, as far as files can express it. */
export class Current {
  readonly state: ConfigurationState;
  /** Hosts that labels name may be missing. */
  readonly allowsUnknownHosts: boolean;
  readonly #values: ReadonlyMap<string, Json>;

  constructor(state: ConfigurationState, allowsUnknownHosts = false) {
    this.state = state;
    this.allowsUnknownHosts = allowsUnknownHosts;
    this.#values = new Map(state.things.map((thing) => [keyOf(thing as Thing), thing.value as Json]));
  }
  value(kind: ThingKey["kind"], owner: ThingKey["owner"], name: string = kind): Json | undefined {
    return this.#values.get(keyOf({ kind, owner, name }));
  }
  namesOf(kind: ThingKey["kind"]): string[] {
    return this.state.things.filter((thing) => thing.kind === kind).map(({ name }) => name);
  }
  /** The name of the owner's package with this name, or with a file that has this digest. */
  packageCalled(owner: ThingKey["owner"], called: string): string | undefined {
    const packages = this.state.things.filter((thing) => thing.kind === "package" && thing.owner === owner);
    const isMeant = ({ name, value }: (typeof packages)[number]) =>
      name === called || (isRecord(value) && value.sha256 === called);
    return packages.find(isMeant)?.name;
  }
  /** Whether people change these by hand, so that files need not contain them. */
  isExcepted(exception: keyof GitopsExceptions | undefined): boolean {
    return isExcepted(exception, this.state.gitops_exceptions);
  }
  get isPremium(): boolean {
    return this.state.tier === "premium";
  }
}

/** The server refuses two names that differ by case alone, and refuses to rename. */
export function checkTeamNames(
  teams: readonly { name: string | null; nameAt: Place }[],
  { things }: ConfigurationState,
  problems: Problems,
): void {
  const there = new Map(
    things.filter(({ kind }) => kind === "team").map(({ name }) => [name.toLowerCase(), name] as const),
  );
  for (const { name, nameAt } of teams) {
    const held = there.get(name!.toLowerCase());
    if (held !== undefined && held !== name)
      problems.error(
        nameAt,
        `the team is called ${held} on the server: names of teams must differ in more than letter case`,
      );
  }
}
