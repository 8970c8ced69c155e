import { useEffect } from "react";
import { viewsApi } from "../../../api/settings/views.ts";
import { useRead } from "../../api.ts";
import { notifyFailed } from "../../frame/notices.tsx";
import { useUrl } from "../../url.ts";
import type { ViewPage } from "./definition.ts";
import { urlOfView, VIEW } from "./view-href.ts";

/**
 * Opens the view that the URL names by its id alone, as pinned addresses do: the URL then has its filters, order and
 * columns. Returns whether the view is still being read.
 */
export function useNamedView(page: ViewPage | undefined): boolean {
  const { all, get, set } = useUrl();
  const id = get(VIEW);
  const isNamed = page !== undefined && id !== null && [...all.keys()].every((name) => name === VIEW || name === "tab");
  const { data, error, isFetching } = useRead(viewsApi.get, { params: { id: id ?? "0" } }, { enabled: isNamed });
  const view = isFetching || data?.view.page !== page ? undefined : data?.view;
  const isEmpty = view !== undefined && view.columns === null && Object.keys(view.query).length === 0;
  const isUnusable = !isFetching && view === undefined && (error !== null || data !== undefined);
  useEffect(() => {
    if (!isNamed || isEmpty) return;
    if (view !== undefined) set(urlOfView(view), { replace: true });
    if (isUnusable) {
      notifyFailed(error ?? new Error("This view is of another list."));
      set({ [VIEW]: null }, { replace: true });
    }
  }, [isNamed, isEmpty, view, isUnusable, error, set]);
  return isNamed && !isEmpty;
}
