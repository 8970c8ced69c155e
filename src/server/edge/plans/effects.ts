// The effect of a plan on hosts: how many get, lose or keep what it changes. Each figure is one count in the store.
import { EFFECT_HOSTS, EFFECTS_MAX } from "../../../api/edge/plans.ts";
import type { Context } from "../../platform/core/context.ts";
import { and, eq, everything, not, nothing, or, type Predicate } from "../../platform/store/query.ts";
import { isSame, keyOf, type Thing } from "../configuration/values.ts";
import type { Difference } from "./diff.ts";
import { LabelSets } from "./label-sets.ts";
import type { Things } from "./resolve.ts";
import type { StoredEffect, StoredHosts } from "./stored.ts";
import { NO_LABELS, type Target, targetOf } from "./targets.ts";

interface World {
  readonly before: Things;
  readonly after: Things;
  readonly teamIds: ReadonlyMap<string, number>;
}

const NONE: StoredHosts = { count: 0, hosts: [] };
const NO_EFFECT: StoredEffect = { get: NONE, lose: NONE, change: NONE, cannot: [], not_computed: [] };

/** For the first changes only: the work for one plan stays bounded. */
export async function effectsOf(
  ctx: Context,
  differences: readonly Difference[],
  world: World,
): Promise<StoredEffect[]> {
  const counting = await EffectCounting.of(ctx, differences.slice(0, EFFECTS_MAX), world);
  const effects: StoredEffect[] = [];
  for (const difference of differences.slice(0, EFFECTS_MAX)) effects.push(await counting.effectOf(difference));
  return effects;
}

const NOT_COUNTED = "Hosts are not counted for this kind of change.";
const notCountedKinds: Readonly<Record<string, string>> = {
  script: "Hosts get a script only when it is run on them.",
};
const SETTINGS = "It depends on the setting which hosts notice it.";
const USES = "What uses this label is not counted.";
const UNKNOWN_LABELS = "This plan changes one of the labels, whose members afterwards are not known.";
const unknownMembers = {
  answers: "Hosts join and leave this label as they answer its query, which is not known beforehand.",
  many: "The members of this label are too many to be compared.",
} as const;

class EffectCounting {
  readonly #ctx: Context;
  readonly #world: World;
  readonly #sets: LabelSets;

  private constructor(ctx: Context, world: World, sets: LabelSets) {
    this.#ctx = ctx;
    this.#world = world;
    this.#sets = sets;
  }

  static async of(ctx: Context, differences: readonly Difference[], world: World): Promise<EffectCounting> {
    const { before, after, teamIds } = world;
    const valuesOf = (difference: Difference) => [before, after].map((things) => things.get(keyOf(difference))?.value);
    const names = differences.flatMap((difference) =>
      valuesOf(difference).flatMap((value) => {
        const { any, all, none } = targetOf(ctx, difference, value, teamIds)?.labels ?? NO_LABELS;
        return [...any, ...all, ...none];
      }),
    );
    const labels = differences
      .filter(({ kind }) => kind === "label")
      .map((difference) => {
        const [old, desired] = valuesOf(difference);
        return { name: difference.name, before: old, after: desired };
      });
    return new EffectCounting(ctx, world, await LabelSets.of(ctx, names, labels));
  }

  async effectOf(difference: Difference): Promise<StoredEffect> {
    const { kind, action, name } = difference;
    if (kind === "label") return this.#ofLabel(difference);
    if (kind === "team") return action === "delete" ? this.#ofTeam(name) : NO_EFFECT;
    const { before, after, teamIds } = this.#world;
    const key = keyOf(difference);
    const target = (thing: Thing | undefined) =>
      thing === undefined ? null : targetOf(this.#ctx, difference, thing.value, teamIds);
    const was = target(before.get(key));
    const is = action === "delete" ? null : target(after.get(key));
    if (!was && !is) return { ...NO_EFFECT, not_computed: [notCountedKinds[kind] ?? NOT_COUNTED] };
    const now = was ? reachOf(was, (label) => this.#sets.now(label)) : nothing;
    const later = is ? reachOf(is, (label) => this.#sets.later(label)) : nothing;
    return {
      ...(await this.#figures(now, later, {
        isSameReach: was !== null && is !== null && this.#isSameReach(was, is),
        // Hosts that stay in the labels do not notice that these are others.
        isOtherwiseSame:
          difference.fields.length > 0 && difference.fields.every(({ path }) => path.startsWith("labels_")),
      })),
      cannot: is ? await this.#cannot(is) : [],
      not_computed: [
        ...(is && this.#isUncertain(is) ? [UNKNOWN_LABELS] : []),
        ...(kind === "config" ? [SETTINGS] : []),
      ],
    };
  }

  /** Most changes leave the hosts as they are, so that two counts are unnecessary. */
  #isSameReach(was: Target, is: Target): boolean {
    const { any, all, none } = is.labels;
    return isSame(was.source, is.source) && ![...any, ...all, ...none].some((label) => this.#sets.isChanged(label));
  }

  async #figures(
    now: Predicate,
    later: Predicate,
    { isSameReach = false, isOtherwiseSame = false } = {},
  ): Promise<Pick<StoredEffect, "get" | "lose" | "change">> {
    return {
      get: isSameReach ? NONE : await this.#hosts(and(later, not(now))),
      lose: isSameReach ? NONE : await this.#hosts(and(now, not(later))),
      change: isOtherwiseSame ? NONE : await this.#hosts(isSameReach ? now : and(now, later)),
    };
  }

  async #cannot(target: Target): Promise<StoredEffect["cannot"]> {
    const { place, platform, isManaged } = target;
    const { included, excluded } = labelsOf(target, (label) => this.#sets.later(label));
    const meant = and(place, included);
    const reasons = [
      { reason: "wrong_platform", where: platform.op === "all" ? nothing : and(meant, not(platform)) },
      { reason: "not_managed", where: isManaged.op === "all" ? nothing : and(meant, platform, not(isManaged)) },
      { reason: "label_excluded", where: and(meant, platform, isManaged, excluded) },
    ] as const;
    const cannot: StoredEffect["cannot"][number][] = [];
    for (const { reason, where } of reasons) {
      const hosts = target.labels.none.length === 0 && reason === "label_excluded" ? NONE : await this.#hosts(where);
      if (hosts.count > 0) cannot.push({ reason, ...hosts });
    }
    return cannot;
  }

  async #ofLabel({ name, action }: Difference): Promise<StoredEffect> {
    const now = this.#sets.now(name);
    const unknown = this.#sets.unknown(name);
    if (unknown !== null)
      return { ...NO_EFFECT, change: await this.#hosts(now), not_computed: [unknownMembers[unknown], USES] };
    const { get, lose } = await this.#figures(now, this.#sets.later(name));
    return { ...NO_EFFECT, get, lose, not_computed: action === "create" ? [] : [USES] };
  }

  async #ofTeam(name: string): Promise<StoredEffect> {
    const teamId = this.#world.teamIds.get(name);
    return teamId === undefined ? NO_EFFECT : { ...NO_EFFECT, lose: await this.#hosts(eq("team_id", teamId)) };
  }

  #isUncertain({ labels: { any, all, none } }: Target): boolean {
    return [...any, ...all, ...none].some((label) => this.#sets.unknown(label) !== null);
  }

  async #hosts(where: Predicate): Promise<StoredHosts> {
    if (where.op === "none") return NONE;
    const { hosts } = this.#ctx.store;
    const count = await hosts.count(where);
    if (count === 0) return NONE;
    const rows = await hosts.pick(["id", "display_name", "team_id"], {
      where,
      order: [{ column: "display_name", direction: "asc" }],
      limit: EFFECT_HOSTS,
    });
    return { count, hosts: rows.map(({ id, display_name, team_id }) => ({ id, display_name, team_id })) };
  }
}

type MembersOf = (label: string) => Predicate;

function reachOf(target: Target, membersOf: MembersOf): Predicate {
  const { included, excluded } = labelsOf(target, membersOf);
  return and(
    target.place,
    target.platform,
    target.isManaged,
    included,
    ...(target.labels.none.length === 0 ? [] : [not(excluded)]),
  );
}

function labelsOf({ labels: { any, all, none } }: Target, membersOf: MembersOf) {
  return {
    included: and(any.length === 0 ? everything : or(...any.map(membersOf)), ...all.map(membersOf)),
    excluded: or(...none.map(membersOf)),
  };
}
