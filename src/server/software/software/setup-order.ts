// The order in which hosts install software during their setup. Packages and store apps are chosen in the same way.
import type { SetupPlatform } from "../../../api/setup-platforms.ts";

/** The place of a package or app among those of each platform. */
export type SetupPositions = Readonly<Partial<Record<SetupPlatform, number>>>;

export interface ChosenForSetup {
  readonly install_during_setup: boolean;
  readonly setup_positions: SetupPositions;
}

/** Place of what was chosen without an order. */
export const LAST_IN_SETUP = 1_000_000;

const positionsOf = (row: ChosenForSetup, ownPlatform: SetupPlatform): SetupPositions => {
  if (!row.install_during_setup) return {};
  return Object.keys(row.setup_positions).length === 0 ? { [ownPlatform]: LAST_IN_SETUP } : row.setup_positions;
};

/** Null: hosts of this platform do not install it during their setup. `ownPlatform`: the platform that it is for. */
export const positionDuringSetup = (
  row: ChosenForSetup,
  ownPlatform: SetupPlatform,
  platform: SetupPlatform,
): number | null => positionsOf(row, ownPlatform)[platform] ?? null;

/** The columns after a change for one platform. */
export function chosenAt(
  row: ChosenForSetup,
  ownPlatform: SetupPlatform,
  { platform, position }: { readonly platform: SetupPlatform; readonly position: number | null },
): ChosenForSetup {
  const { [platform]: _, ...others } = positionsOf(row, ownPlatform);
  const setup_positions = position === null ? others : { ...others, [platform]: position };
  return { install_during_setup: Object.keys(setup_positions).length > 0, setup_positions };
}
