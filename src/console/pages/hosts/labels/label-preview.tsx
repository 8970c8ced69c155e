import type { ReactElement } from "react";
import type { InputOf } from "../../../../api/endpoint.ts";
import { type LabelPreview, labelEffectsApi } from "../../../../api/hosts/label-effects.ts";
import { useRead } from "../../../api.ts";
import { counted } from "../../../parts/counted.ts";
import { useSettled } from "../../../parts/form/use-settled.ts";

type Body = NonNullable<InputOf<typeof labelEffectsApi.preview>["body"]>;

interface PreviewLineProps {
  /** Null: nothing is chosen yet. */
  readonly body: Body | null;
}

/** Which hosts the label would have, while its form is filled in. */
export function PreviewLine({ body }: PreviewLineProps): ReactElement {
  const text = useSettled(JSON.stringify(body));
  const settled = JSON.parse(text) as Body | null;
  const reply = useRead(labelEffectsApi.preview, { body: settled ?? {} }, { enabled: settled !== null });
  const isCurrent = text === JSON.stringify(body) && !reply.isPlaceholderData;
  return (
    <p role="status" aria-label="Preview" className="hint">
      {body === null
        ? "No hosts yet."
        : !isCurrent || reply.isPending
          ? "Counting hosts"
          : reply.isError
            ? "The hosts are counted when this is complete."
            : sentences(reply.data, body).join(" ")}
    </p>
  );
}

function sentences({ hosts_count, gained, lost, asked_hosts_count, unknown_hosts }: LabelPreview, body: Body) {
  const unknown =
    unknown_hosts.count === 0
      ? []
      : [`${counted(unknown_hosts.count, "name")} unknown: ${listed(unknown_hosts.count, unknown_hosts.names)}.`];
  if (hosts_count === null)
    return [
      `Which hosts have it is known when their agents have answered: ${counted(asked_hosts_count ?? 0, "host")} will be asked.`,
    ];
  const total = `${counted(hosts_count, "host")} would have this label now`;
  if (body.label_id === undefined) return [`${total}${hostsOf(gained)}.`, ...unknown];
  return [
    `${total}.`,
    `${counted(gained?.count ?? 0, "host")} gained${hostsOf(gained)}.`,
    `${counted(lost?.count ?? 0, "host")} lost${hostsOf(lost)}.`,
    ...unknown,
  ];
}

function hostsOf(sample: LabelPreview["gained"]): string {
  if (sample === null || sample.count === 0) return "";
  const names = sample.hosts.map(({ display_name }) => display_name);
  return `: ${listed(sample.count, names)}`;
}

const listed = (count: number, names: readonly string[]): string =>
  `${names.join(", ")}${count > names.length ? " and others" : ""}`;
