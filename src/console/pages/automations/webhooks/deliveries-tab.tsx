import { type ReactElement, useMemo } from "react";
import { type Delivery, webhooksApi } from "../../../../api/automations/webhooks.ts";
import { client, request, useOutdate, useRead } from "../../../api.ts";
import { notifyDone, notifyFailed } from "../../../frame/notices.tsx";
import { Badge, type Tone } from "../../../parts/badge.tsx";
import { Facts } from "../../../parts/facts.tsx";
import type { ListDefinition } from "../../../parts/list/definition.ts";
import { List } from "../../../parts/list/list-page.tsx";
import { Read } from "../../../parts/loading/read.tsx";
import { ScrollingText } from "../../../parts/scrolling-text.tsx";
import { Time } from "../../../parts/time.tsx";
import { useUrl } from "../../../url.ts";
import { eventNames, kindNames, optionsOf, stateNames } from "./events.ts";

type Act = "replay" | "giveUp";

/** What was sent, waits to be sent, or was given up. */
export function DeliveriesTab(): ReactElement {
  const outdate = useOutdate();
  const { set } = useUrl();
  const definition = useMemo(() => {
    const act = (what: Act, { id }: Delivery) =>
      request(async () => {
        await client.call(webhooksApi[what], { params: { id: String(id) } });
        notifyDone(what === "replay" ? `Delivery ${id} is sent again.` : `Delivery ${id} is given up.`);
        await outdate(webhooksApi.deliveries, webhooksApi.delivery, webhooksApi.destinations);
      }).catch(notifyFailed);
    return deliveriesOf({
      onAct: (what, delivery) => void act(what, delivery),
      onShow: ({ id }) => set({ panel: id }),
    });
  }, [outdate, set]);
  return <List definition={definition} />;
}

interface DeliveryEvents {
  readonly onAct: (what: Act, delivery: Delivery) => void;
  readonly onShow: (delivery: Delivery) => void;
}

const deliveriesOf = (events: DeliveryEvents): ListDefinition<typeof webhooksApi.deliveries, Delivery> => ({
  name: "Deliveries",
  thing: "delivery",
  things: "deliveries",
  endpoint: webhooksApi.deliveries,
  hasTeams: false,
  hasSearch: false,
  rowsOf: ({ deliveries }) => deliveries,
  defaultOrder: { key: "id", direction: "desc" },
  keyOf: ({ id }) => id,
  nameOf: ({ id }) => `delivery ${id}`,
  columns: [
    { id: "id", name: "Delivery", order: "id", cell: ({ id }) => id },
    { id: "event", name: "Event", cell: ({ event }) => eventNames[event] },
    { id: "kind", name: "Kind", cell: ({ kind }) => kindNames[kind] },
    { id: "state", name: "State", cell: stateCell },
    { id: "url", name: "Destination", cell: ({ url }) => url },
    { id: "created", name: "Created", order: "created_at", cell: ({ created_at }) => <Time value={created_at} /> },
    { id: "attempts", name: "Attempts", isNumber: true, cell: ({ attempts }) => attempts },
    { id: "error", name: "Last error", cell: ({ last_error }) => last_error ?? "" },
    {
      id: "action",
      name: "Action",
      cell: (delivery) => <DeliveryButtons delivery={delivery} {...events} />,
    },
  ],
  filters: [
    { name: "state", label: "State", options: optionsOf(stateNames) },
    { name: "event", label: "Event", options: optionsOf(eventNames) },
    { name: "kind", label: "Kind", options: optionsOf(kindNames) },
    { name: "url", label: "Destination" },
  ],
  details: (id) => <DeliveryDetails id={id} />,
  command: "webhooks deliveries list",
  empty: <p>Nothing was sent yet. Choose in the settings which events are sent where.</p>,
});

const tones: Readonly<Record<Delivery["state"], Tone>> = { pending: "note", delivered: "good", dead: "bad" };

const stateCell = ({ state }: Delivery): ReactElement => <Badge tone={tones[state]}>{stateNames[state]}</Badge>;

interface DeliveryButtonsProps extends DeliveryEvents {
  readonly delivery: Delivery;
}

const DeliveryButtons = ({ delivery, onAct, onShow }: DeliveryButtonsProps): ReactElement => (
  <span className="buttons">
    <button
      type="button"
      className="plain small"
      aria-label={`Show: delivery ${delivery.id}`}
      onClick={() => onShow(delivery)}
    >
      Show
    </button>
    <button
      type="button"
      className="plain small"
      aria-label={`Send again: delivery ${delivery.id}`}
      onClick={() => onAct("replay", delivery)}
    >
      Send again
    </button>
    {delivery.state === "pending" && (
      <button
        type="button"
        className="danger small"
        aria-label={`Give up: delivery ${delivery.id}`}
        onClick={() => onAct("giveUp", delivery)}
      >
        Give up
      </button>
    )}
  </span>
);

function DeliveryDetails({ id }: { readonly id: string }): ReactElement {
  const reply = useRead(webhooksApi.delivery, { params: { id } });
  return (
    <Read from={reply} what="delivery">
      {({ delivery }) => (
        <>
          <h2>Delivery {delivery.id}</h2>
          <Facts
            facts={[
              ["Event", eventNames[delivery.event]],
              ["State", stateCell(delivery)],
              ["Destination", delivery.url],
              ["Message", delivery.message_id],
              ["Attempts", delivery.attempts],
              ["Last attempt", <Time key="last" value={delivery.last_attempt_at} />],
              [
                "Next attempt",
                delivery.next_attempt_at === null ? null : <Time key="next" value={delivery.next_attempt_at} />,
              ],
              ["Last status", delivery.last_status],
              ["Last error", delivery.last_error],
              ["Ticket", delivery.result?.ticket_key ?? delivery.result?.ticket_id],
            ]}
          />
          <h3>Payload</h3>
          <ScrollingText text={JSON.stringify(delivery.payload, null, 2)} />
        </>
      )}
    </Read>
  );
}
