import "./packages.css";
import { useQuery } from "@tanstack/react-query";
import type { ReactElement } from "react";
import { titleIconsApi } from "../../../../api/software/self-service.ts";
import { softwareApi } from "../../../../api/software/software.ts";
import { client, keyOf, request, useOutdate } from "../../../api.ts";

interface TitleIconProps {
  readonly title: { readonly id: number; readonly icon_url: string | null };
}

/** The icon of a title: the team's own, or that of the store. None: nothing. */
export function TitleIcon({ title }: TitleIconProps): ReactElement | null {
  const { icon_url: url } = title;
  const isOwn = url?.startsWith("/") ?? false;
  const { data } = useQuery({
    queryKey: [keyOf(titleIconsApi.get), url],
    // Images of the API need the header of the console, which browsers do not send for an address.
    queryFn: () => request(() => readIcon(title.id, url ?? "")),
    enabled: isOwn,
  });
  const source = isOwn ? data : url?.startsWith("https:") ? url : undefined;
  return source == null ? null : <img className="title-icon" src={source} alt="" />;
}

async function readIcon(id: number, url: string): Promise<string> {
  const team_id = new URL(url, location.origin).searchParams.get("team_id") ?? "0";
  const { content } = await client.download(titleIconsApi.get, { params: { id: String(id) }, query: { team_id } });
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(new Blob([content], { type: "image/png" }));
  });
}

export function useOutdateIcon(): () => Promise<void> {
  const outdate = useOutdate();
  return () => outdate(softwareApi.title, softwareApi.titles, titleIconsApi.get);
}
