// What self-service asks of store apps.
import type { TitleOffers } from "../../software/self-service/offers.ts";
import { appOfTitle, recordEdited } from "./apps.ts";
import { listingOf } from "./licensed.ts";

export const storeAppOffers: TitleOffers = {
  inCategories: (store, where) => store.storeApps.pick(["id", "team_id", "categories"], { where }),
  async setCategories(store, rows) {
    await store.storeApps.updateEach(rows);
  },
  async iconChanged(inside, team, titleId) {
    const row = await appOfTitle(inside.store, titleId, team.team_id);
    if (row === null) return false;
    await recordEdited(inside, team, row);
    return true;
  },
  async storeIcon(store, teamId, titleId) {
    const row = await appOfTitle(store, titleId, teamId);
    return row === null ? null : ((await listingOf(store, row))?.icon_url ?? null);
  },
};
