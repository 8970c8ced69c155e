// How a plan is kept: its request, and what is shown of it.
import type { z } from "zod";
import type { configurationApi } from "../../../api/edge/configuration.ts";
import type { CannotReason, PlannedChange } from "../../../api/edge/plans.ts";

/** The body of POST /spec/apply without the pins. */
export type StoredRequest = Pick<z.output<(typeof configurationApi)["apply"]["body"]>, "changes" | "secrets" | "files">;

/** A host with its team, so that each reader sees the hosts that it may list. */
export interface StoredHost {
  readonly id: number;
  readonly display_name: string;
  readonly team_id: number | null;
}

export interface StoredHosts {
  readonly count: number;
  readonly hosts: readonly StoredHost[];
}

export interface StoredEffect {
  readonly get: StoredHosts;
  readonly lose: StoredHosts;
  readonly change: StoredHosts;
  readonly cannot: readonly (StoredHosts & { readonly reason: CannotReason })[];
  readonly not_computed: readonly string[];
}

export type StoredChange = Omit<PlannedChange, "effect"> & { readonly effect: StoredEffect | null };
