// What self-service asks of packages.
import { recordActivity } from "../../platform/activities/record.ts";
import type { TitleOffers } from "../self-service/offers.ts";
import { installerOfTitle } from "./hosts.ts";
import { detailsOf } from "./service.ts";

export const packageOffers: TitleOffers = {
  inCategories: (store, where) => store.softwareInstallers.pick(["id", "team_id", "categories"], { where }),
  async setCategories(store, rows) {
    await store.softwareInstallers.updateEach(rows);
  },
  async iconChanged(inside, team, titleId) {
    const installer = await installerOfTitle(inside.store, team.team_id, titleId);
    if (installer === null) return false;
    await recordActivity(inside, "edited_software", await detailsOf(inside, installer, team));
    return true;
  },
  storeIcon: async () => null,
};
