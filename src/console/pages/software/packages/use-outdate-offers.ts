import { hostsApi } from "../../../../api/inventory/hosts.ts";
import { catalogueApi } from "../../../../api/software/catalogue.ts";
import { selfServiceCategoriesApi } from "../../../../api/software/self-service.ts";
import { softwareApi } from "../../../../api/software/software.ts";
import { useOutdate } from "../../../api.ts";

/** A function that has everything read again that depends on what teams offer. */
export function useOutdateOffers(): () => Promise<void> {
  const outdate = useOutdate();
  return () =>
    outdate(
      softwareApi.title,
      softwareApi.titles,
      catalogueApi.list,
      catalogueApi.get,
      selfServiceCategoriesApi.list,
      hostsApi.list,
      hostsApi.count,
    );
}
