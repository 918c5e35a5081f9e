package shop;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.standardwebhooks.Webhook;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import io.grpc.StatusRuntimeException;
import io.temporal.api.enums.v1.WorkflowIdReusePolicy;
import io.temporal.client.UpdateOptions;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowExecutionAlreadyStarted;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.client.WorkflowOptions;
import io.temporal.client.WorkflowStub;
import io.temporal.client.WorkflowUpdateStage;
import io.temporal.failure.ApplicationFailure;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Calls Holdfast by the flows' names and messages, and takes its notifications. */
final class Shop {
  private static final int WAIT_SECONDS = 10;
  /** Held for a moment when a card is put on file, and released. */
  private static final int CONSENT_AMOUNT = 6000;

  static final ObjectMapper JSON = new ObjectMapper();

  private final WorkflowClient temporal;
  private final Webhook webhook;
  private final Map<String, String> notify;
  /** Keep these in a database: an id comes again after a restart too. */
  private final Set<String> notified = Collections.newSetFromMap(new ConcurrentHashMap<>());

  Shop(WorkflowClient temporal, String secret, String url) {
    this.temporal = temporal;
    this.webhook = new Webhook(secret);
    this.notify = Map.of("url", url + "/notifications");
  }

  /** {@code flow} is charge or authorizeAndCapture. Called again with the same order, it pays nothing more. */
  JsonNode pay(String flow, JsonNode order) throws TimeoutException {
    String reference = text(order, "reference");
    String currency = text(order, "currency");
    String token = text(order, "token");
    JsonNode amount = order.required("amount"); // Minor units.
    Map<String, Object> payment =
        Map.of(
            "reference", reference,
            "amount", amount,
            "currency", currency,
            "paymentMethod", Map.of("type", "tokenized", "token", token),
            "notify", notify);
    String asked = fingerprint(flow, reference, amount, currency, "default", canonical(token), null);
    return ask(flow, "payment-" + reference, "holdfast", payment, asked);
  }

  /** Puts the card on file with the buyer's consent, then bills it each month. */
  JsonNode subscribe(JsonNode order) throws TimeoutException {
    String reference = text(order, "reference");
    String currency = text(order, "currency");
    String customer = text(order, "customer");
    String anchor = text(order, "anchor");
    String zone = text(order, "timeZone");
    String fresh = text(order, "token");
    JsonNode amount = order.required("amount");
    String consent = reference + "-card";
    Map<String, Object> card =
        Map.of(
            "reference", consent,
            "amount", CONSENT_AMOUNT,
            "currency", currency,
            "paymentMethod", Map.of("type", "tokenized", "token", fresh),
            "customer", Map.of("customerReference", customer));
    String asked = fingerprint("storeCard", consent, CONSENT_AMOUNT, currency, "default", canonical(fresh), canonical(customer));
    JsonNode stored = ask("storeCard", "payment-" + consent, "holdfast", card, asked);
    if (!stored.path("status").asText().equals("stored")) return stored;

    String customerId = text(stored, "customerId");
    String token = text(stored, "token");
    Map<String, Object> subscription = new HashMap<>();
    subscription.put("reference", reference);
    subscription.put("customerId", customerId);
    subscription.put("token", token);
    subscription.put("amount", amount);
    subscription.put("currency", currency);
    subscription.put("interval", Map.of("every", 1, "unit", "month"));
    subscription.put("anchor", anchor); // The day of the first bill, in that time zone.
    subscription.put("timeZone", zone);
    subscription.put("notify", notify);
    if (stored.has("consentTransactionId"))
      subscription.put("consentTransactionId", stored.get("consentTransactionId"));
    // What is not given above: billAt, trialDays, periods, endsOn, jitter, missedPeriods and dunning.
    List<Object> plan =
        Arrays.asList(1, "month", anchor, zone, "10:00", 0, null, null, 3_600_000, null, null, null, null, null);
    asked =
        fingerprint(
            "subscription", reference, amount, currency, "default", canonical(token), canonical(customerId), plan);
    return ask("subscription", "subscription-" + reference, "holdfast-billing", subscription, asked);
  }

  /** Starts a flow, or joins the one that is there, and waits for its outcome. */
  private JsonNode ask(String flow, String workflowId, String queue, Object startWith, String asked)
      throws TimeoutException {
    WorkflowOptions options =
        WorkflowOptions.newBuilder()
            .setWorkflowId(workflowId)
            .setTaskQueue(queue)
            // Also after its end: this is what keeps a reference from being charged twice.
            .setWorkflowIdReusePolicy(WorkflowIdReusePolicy.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE)
            .build();
    try {
      temporal.newUntypedWorkflowStub(flow, options).start(startWith);
    } catch (WorkflowExecutionAlreadyStarted joined) {
      // It is asked below, as if it had been started here.
    }
    WorkflowStub running = temporal.newUntypedWorkflowStub(workflowId);
    Map<String, Object> request =
        Map.of("type", flow, "fingerprint", asked, "waitFor", WAIT_SECONDS + " seconds");
    try {
      // A fresh id for every call: for a known one the server repeats an answer that is old by now.
      return update(running, "outcome", UUID.randomUUID().toString(), request);
    } catch (WorkflowNotFoundException ended) {
      // It has ended, or ends just now.
      Object theirs = running.describe().getMemo("holdfastFingerprint", String.class);
      // A flow that was refused at once has none, and fails below with the reason.
      if (theirs != null && !theirs.equals(asked))
        throw ApplicationFailure.newFailure(workflowId + " was used for another input", "ReferenceConflict");
      return running.getResult(WAIT_SECONDS, TimeUnit.SECONDS, JsonNode.class);
    }
  }

  /**
   * Gives a flow a command. Repeated with the same commandId, it is carried out once, and answered as before: after the
   * flow's end too if it ended in the run that took the command. After an end in a later one it is answered 404, and the
   * flow's result says what was done.
   */
  JsonNode command(String workflowId, String name, JsonNode command) {
    WorkflowStub flow = temporal.newUntypedWorkflowStub(workflowId);
    String asked = text(command, "commandId") + ":" + fingerprint(name, command).substring(0, 16);
    // The server repeats its answer to an id that it knows. A reset fails where two runs have accepted the same one.
    String run = flow.describe().getExecution().getRunId();
    // To the run that is there by now, which may be the next one.
    return update(flow, name, asked + ":" + run, command);
  }

  /**
   * Whether a run that ended, or went on in another just then, has lost the update: that is not found, and the flow is
   * there.
   */
  static boolean isLostUpdate(WorkflowNotFoundException error) {
    return error.getCause() instanceof StatusRuntimeException refused
        && String.valueOf(refused.getStatus().getDescription()).matches("(?i)update .* not found.*");
  }

  private static JsonNode update(WorkflowStub flow, String name, String id, Object request) {
    UpdateOptions<JsonNode> options =
        UpdateOptions.newBuilder(JsonNode.class)
            .setUpdateName(name)
            .setUpdateId(id)
            .setWaitForStage(WorkflowUpdateStage.COMPLETED)
            .build();
    return flow.startUpdate(options, request).getResult();
  }

  /** Takes a notification, which may come more than once, and out of order. */
  void receive(Map<String, List<String>> headers, String body)
      throws WebhookVerificationException, JsonProcessingException {
    webhook.verify(body, headers);
    JsonNode told = JSON.readTree(body);
    if (!notified.add(text(told, "id"))) return;
    JsonNode data = told.required("data");
    String about = data.has("reference") ? text(data, "reference") : text(data, "subscription");
    System.out.println("notified " + text(told, "type") + " " + about);
  }

  /** What a request is about: a reference that is used for something else is refused by it. */
  private static String fingerprint(Object... parts) {
    try {
      byte[] text = JSON.writeValueAsString(parts).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
    } catch (JsonProcessingException | NoSuchAlgorithmException error) {
      throw new IllegalStateException(error);
    }
  }

  private static String text(JsonNode object, String name) {
    JsonNode value = object.required(name);
    if (!value.isTextual()) throw new IllegalArgumentException(name + " is no text");
    return value.textValue();
  }

  /** A UUID may be written in capitals; other ids are compared as they are. */
  private static String canonical(String id) {
    return id.matches("[0-9A-Fa-f-]{36}") ? id.toLowerCase(Locale.ROOT) : id;
  }
}
