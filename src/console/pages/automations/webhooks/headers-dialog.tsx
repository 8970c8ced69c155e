import type { ReactElement } from "react";
import { type Destination, webhooksApi } from "../../../../api/automations/webhooks.ts";
import { client, useOutdate } from "../../../api.ts";
import { notifyDone } from "../../../frame/notices.tsx";
import { Dialog } from "../../../parts/dialog.tsx";
import { Form, TextAreaField } from "../../../parts/form/form.tsx";
import { useForm } from "../../../parts/form/use-form.ts";

interface HeadersDialogProps {
  readonly destination: Destination;
  readonly onClose: () => void;
}

const ROWS = 6;

/** Changes the headers of requests to a destination. Values are masked; a mask keeps the stored value. */
export default function HeadersDialog({ destination, onClose }: HeadersDialogProps): ReactElement {
  const outdate = useOutdate();
  const form = useForm({
    initial: { headers: textOf(destination.headers) },
    send: ({ headers }, options) =>
      client.call(
        webhooksApi.modifyDestination,
        { body: { url: destination.url, headers: headersIn(headers) } },
        options,
      ),
    storedLists: async () => ({ headers: textOf(await storedHeaders(destination.url)) }),
    onDone: async () => {
      notifyDone(`The headers of requests to ${destination.url} are changed.`);
      await outdate(webhooksApi.destinations);
      onClose();
    },
  });
  return (
    <Dialog title={`Headers for ${destination.url}`} hasChanges={form.isChanged} onClose={onClose}>
      <Form form={form} submit="Save" onCancel={onClose}>
        <TextAreaField
          form={form}
          name="headers"
          label="Headers"
          rows={ROWS}
          hint="one NAME: VALUE on each line. Values are stored encrypted and shown as ********, which keeps them."
        />
      </Form>
    </Dialog>
  );
}

const PAGE_SIZE = 1000;

/** Nothing if the destination is not used any more. */
async function storedHeaders(url: string): Promise<Destination["headers"]> {
  const { destinations } = await client.call(webhooksApi.destinations, { query: { per_page: PAGE_SIZE } });
  return destinations.find((destination) => destination.url === url)?.headers ?? {};
}

const textOf = (headers: Destination["headers"]): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");

/** What follows the first colon is the value. The server refuses lines that are no header. */
const headersIn = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const at = line.indexOf(":");
        return at < 0 ? [line.trim(), ""] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
      }),
  );
