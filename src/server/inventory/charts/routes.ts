import { chartsApi } from "../../../api/inventory/charts.ts";
import { route } from "../../platform/core/http/route.ts";
import { getChart } from "./chart.ts";

export const chartRoutes = [route(chartsApi.get, ({ params, query }, ctx) => getChart(ctx, params.metric, query))];
