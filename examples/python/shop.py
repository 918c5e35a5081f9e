"""A small shop that is paid by Holdfast: it charges, holds and captures, subscribes, and is notified of what becomes of it.

POST /charges | /holds         {"reference", "amount", "currency", "token"}
POST /subscriptions            the same, and {"customer", "anchor", "timeZone"}
POST /payments/<reference>/<command>, /subscriptions/<reference>/<command>
                               {"commandId", ...}: capture, void; billNow, cancel
POST /notifications            for Holdfast alone: signed as Standard Webhooks says
"""

import asyncio
import dataclasses
import hashlib
import json
import os
import re
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import temporalio.converter
from standardwebhooks.webhooks import Webhook, WebhookVerificationError
from temporalio.client import Client, RPCError, WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.common import WorkflowIDReusePolicy
from temporalio.envconfig import ClientConfig
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError
from temporalio.service import RPCStatusCode

from codec import HoldfastCodec

WAIT_SECONDS = 10
COMMANDS = {"payments": ("capture", "void"), "subscriptions": ("billNow", "cancel")}
# The failures that say that what was asked for was refused. No other says anything of the money.
REFUSALS = ("InvalidInput", "ReferenceConflict", "NotFound", "StateConflict")
NOT_KNOWN = "not known yet: ask again with the same reference and commandId"
CONSENT_AMOUNT = 6000  # Held for a moment when a card is put on file, and released.


def canonical(identifier: str) -> str:
    """A UUID may be written in capitals; other ids are compared as they are."""
    return identifier.lower() if re.fullmatch("[0-9A-Fa-f-]{36}", identifier) else identifier


def fingerprint(*parts: object) -> str:
    """What a request is about: a reference that is used for something else is refused by it."""
    text = json.dumps(parts, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


class Shop:
    def __init__(self, client: Client, secret: str, url: str) -> None:
        self.client = client
        self.webhook = Webhook(secret)
        self.notify = {"url": f"{url}/notifications"}
        self.notified: dict[str, dict] = {}  # Keep these in a database: an id comes again after a restart too.

    async def pay(self, flow: str, order: dict) -> dict:
        """`flow` is charge or authorizeAndCapture. Called again with the same order, it pays nothing more."""
        reference, amount, currency, token = (order[name] for name in ("reference", "amount", "currency", "token"))
        payment = {
            "reference": reference,
            "amount": amount,  # Minor units.
            "currency": currency,
            "paymentMethod": {"type": "tokenized", "token": token},
            "notify": self.notify,
        }
        asked = fingerprint(flow, reference, amount, currency, "default", canonical(token), None)
        return await self.ask(flow, f"payment-{reference}", "holdfast", payment, asked)

    async def subscribe(self, order: dict) -> dict:
        """Puts the card on file with the buyer's consent, then bills it each month."""
        reference, amount, currency, token = (order[name] for name in ("reference", "amount", "currency", "token"))
        customer, anchor, zone = order["customer"], order["anchor"], order["timeZone"]
        card = {
            "reference": f"{reference}-card",
            "amount": CONSENT_AMOUNT,
            "currency": currency,
            "paymentMethod": {"type": "tokenized", "token": token},
            "customer": {"customerReference": customer},
        }
        consent = ("storeCard", card["reference"], CONSENT_AMOUNT, currency, "default", canonical(token), canonical(customer))
        stored = await self.ask("storeCard", f"payment-{card['reference']}", "holdfast", card, fingerprint(*consent))
        if stored["status"] != "stored":
            return stored
        subscription = {
            "reference": reference,
            "customerId": stored["customerId"],
            "token": stored["token"],
            "amount": amount,
            "currency": currency,
            "interval": {"every": 1, "unit": "month"},
            "anchor": anchor,  # The day of the first bill, in that time zone.
            "timeZone": zone,
            "notify": self.notify,
        }
        if "consentTransactionId" in stored:
            subscription["consentTransactionId"] = stored["consentTransactionId"]
        # What is not given above: billAt, trialDays, periods, endsOn, jitter, missedPeriods and dunning.
        plan = [1, "month", anchor, zone, "10:00", 0, None, None, 3_600_000, None, None, None, None, None]
        who = (canonical(stored["token"]), canonical(stored["customerId"]))
        asked = fingerprint("subscription", reference, amount, currency, "default", *who, plan)
        return await self.ask("subscription", f"subscription-{reference}", "holdfast-billing", subscription, asked)

    async def ask(self, flow: str, workflow_id: str, queue: str, start_with: dict, asked: str) -> dict:
        """Starts a flow, or joins the one that is there, and waits for its outcome."""
        try:
            handle = await self.client.start_workflow(
                flow,
                start_with,
                id=workflow_id,
                task_queue=queue,
                # Also after its end: this is what keeps a reference from being charged twice.
                id_reuse_policy=WorkflowIDReusePolicy.REJECT_DUPLICATE,
            )
        except WorkflowAlreadyStartedError:
            handle = self.client.get_workflow_handle(workflow_id)
        request = {"type": flow, "fingerprint": asked, "waitFor": f"{WAIT_SECONDS} seconds"}
        try:
            # A fresh id for every call: for a known one the server repeats an answer that is old by now.
            return await handle.execute_update("outcome", request, id=str(uuid.uuid4()))
        except RPCError as error:
            if error.status != RPCStatusCode.NOT_FOUND:
                raise
        # It has ended, or ends just now.
        memo = await (await handle.describe()).memo()
        # A flow that was refused at once has none, and fails below with the reason.
        if memo.get("holdfastFingerprint", asked) != asked:
            raise ApplicationError(f"{workflow_id} was used for another input", type="ReferenceConflict")
        return await asyncio.wait_for(handle.result(), WAIT_SECONDS)

    async def command(self, workflow_id: str, name: str, command: dict) -> dict:
        """Repeated with the same commandId, it is carried out once, and answered as before.

        That holds after the flow's end too if it ended in the run that took the command. After an end in a later one it
        is answered 404, and the flow's result says what was done.
        """
        handle = self.client.get_workflow_handle(workflow_id)
        # The server repeats its answer to an id that it knows. A reset fails where two runs have accepted the same one.
        run = (await handle.describe()).run_id
        update_id = f"{command['commandId']}:{fingerprint(name, command)[:16]}:{run}"
        # To the run that is there by now, which may be the next one.
        return await handle.execute_update(name, command, id=update_id)

    async def receive(self, headers: dict, body: bytes) -> None:
        """Takes a notification, which may come more than once, and out of order."""
        try:
            notification = self.webhook.verify(body, headers)
        except ValueError as error:  # A header that is no base64, say.
            raise WebhookVerificationError(str(error)) from error
        if notification["id"] in self.notified:
            return
        self.notified[notification["id"]] = notification
        data = notification["data"]
        print(f"notified {notification['type']} {data.get('reference') or data['subscription']}", flush=True)


async def answer(shop: Shop, path: str, headers: dict, body: bytes) -> tuple[int, dict]:
    try:
        match path.strip("/").split("/"):
            case ["notifications"]:
                await shop.receive(headers, body)
                return 200, {}
            case ["charges"]:
                done = await shop.pay("charge", json.loads(body))
            case ["holds"]:
                done = await shop.pay("authorizeAndCapture", json.loads(body))
            case ["subscriptions"]:
                done = await shop.subscribe(json.loads(body))
            case [kind, reference, name] if name in COMMANDS.get(kind, ()):
                done = await shop.command(f"{kind[:-1]}-{reference}", name, json.loads(body))
            case _:
                return 404, {"error": f"there is nothing at {path}"}
        print(f"answered {path} {done['status']}", flush=True)
        return 200, done
    except WebhookVerificationError as error:
        return 401, {"error": str(error)}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        return 400, {"error": f"the request is not as it should be: {error!r}"}
    except (WorkflowFailureError, WorkflowUpdateFailedError, ApplicationError) as error:
        cause = error if isinstance(error, ApplicationError) else error.cause
        if isinstance(cause, ApplicationError) and cause.type in REFUSALS:
            return 422, {"error": cause.type, "message": cause.message}
        # A run may have ended under the question, as in a reset: the next one has the answer.
        return 503, {"error": NOT_KNOWN, "message": str(cause)}
    except (RPCError, asyncio.TimeoutError) as error:
        # A run that ends or goes on in another just then loses the update: that is not found, and the flow is there.
        lost = re.match("update .* not found", str(error), re.IGNORECASE)
        if isinstance(error, RPCError) and error.status == RPCStatusCode.NOT_FOUND and not lost:
            return 404, {"error": "no flow takes this now; if one has ended, its result says what was done"}
        # Money may have moved: never ask again with a new reference.
        return 503, {"error": NOT_KNOWN, "message": str(error)}


class Handler(BaseHTTPRequestHandler):
    shop: Shop
    loop: asyncio.AbstractEventLoop

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        work = answer(self.shop, self.path, dict(self.headers), body)
        status, content = asyncio.run_coroutine_threadsafe(work, self.loop).result()
        text = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        """What is worth a line is printed above."""


async def main() -> None:
    converter = dataclasses.replace(
        temporalio.converter.default(),
        payload_codec=HoldfastCodec(os.environ["HOLDFAST_ENCRYPTION_KEYS"]),
        failure_converter_class=temporalio.converter.DefaultFailureConverterWithEncodedAttributes,
    )
    # TEMPORAL_ADDRESS and the like, or the file that TEMPORAL_CONFIG_FILE names.
    client = await Client.connect(**ClientConfig.load_client_connect_config(), data_converter=converter)
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Handler)
    url = os.environ.get("SHOP_URL", f"http://127.0.0.1:{server.server_port}")
    Handler.shop = Shop(client, os.environ["HOLDFAST_NOTIFY_SECRET"], url)
    Handler.loop = asyncio.get_running_loop()
    print(f"ready {url}", flush=True)
    await asyncio.to_thread(server.serve_forever)


if __name__ == "__main__":
    asyncio.run(main())
