package shop;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.standardwebhooks.exceptions.WebhookVerificationException;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.temporal.client.WorkflowClient;
import io.temporal.client.WorkflowClientOptions;
import io.temporal.client.WorkflowNotFoundException;
import io.temporal.common.converter.CodecDataConverter;
import io.temporal.common.converter.DefaultDataConverter;
import io.temporal.failure.ApplicationFailure;
import io.temporal.serviceclient.WorkflowServiceStubs;
import io.temporal.serviceclient.WorkflowServiceStubsOptions;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;

/**
 * A small shop that is paid by Holdfast: it charges, holds and captures, subscribes, and is notified of what becomes of it.
 *
 * <pre>
 * POST /charges | /holds         {"reference", "amount", "currency", "token"}
 * POST /subscriptions            the same, and {"customer", "anchor", "timeZone"}
 * POST /payments/[reference]/[command], /subscriptions/[reference]/[command]
 *                                {"commandId", ...}: capture, void; billNow, cancel
 * POST /notifications            for Holdfast alone: signed as Standard Webhooks says
 * </pre>
 */
public final class Main {
  private static final Map<String, List<String>> COMMANDS =
      Map.of("payments", List.of("capture", "void"), "subscriptions", List.of("billNow", "cancel"));

  /** The failures that say that what was asked for was refused. No other says anything of the money. */
  private static final Set<String> REFUSALS =
      Set.of("InvalidInput", "ReferenceConflict", "NotFound", "StateConflict");

  private record Answer(int status, Object content) {}

  private static Answer answer(Shop shop, String path, Map<String, List<String>> headers, String body) {
    try {
      String[] parts = path.substring(1).split("/");
      if (path.equals("/notifications")) {
        shop.receive(headers, body);
        return new Answer(200, Map.of());
      }
      JsonNode done;
      if (path.equals("/charges")) done = shop.pay("charge", Shop.JSON.readTree(body));
      else if (path.equals("/holds")) done = shop.pay("authorizeAndCapture", Shop.JSON.readTree(body));
      else if (path.equals("/subscriptions")) done = shop.subscribe(Shop.JSON.readTree(body));
      else if (parts.length == 3 && COMMANDS.getOrDefault(parts[0], List.of()).contains(parts[2])) {
        String workflowId = parts[0].replaceAll("s$", "") + "-" + parts[1];
        done = shop.command(workflowId, parts[2], Shop.JSON.readTree(body));
      } else return new Answer(404, Map.of("error", "there is nothing at " + path));
      System.out.println("answered " + path + " " + done.path("status").asText());
      return new Answer(200, done);
    } catch (WebhookVerificationException error) {
      return new Answer(401, Map.of("error", String.valueOf(error.getMessage())));
    } catch (JsonProcessingException | IllegalArgumentException error) {
      return new Answer(400, Map.of("error", "the request is not as it should be: " + error.getMessage()));
    } catch (WorkflowNotFoundException error) {
      if (Shop.isLostUpdate(error)) return notKnown(error);
      return new Answer(404, Map.of("error", "no flow takes this now; if one has ended, its result says what was done"));
    } catch (Exception error) {
      Throwable cause = error;
      while (cause != null && !(cause instanceof ApplicationFailure)) cause = cause.getCause();
      if (cause instanceof ApplicationFailure refused && REFUSALS.contains(refused.getType()))
        return new Answer(422, Map.of("error", refused.getType(), "message", refused.getOriginalMessage()));
      return notKnown(error);
    }
  }

  /**
   * Money may have moved: never ask again with a new reference. A run may have ended under the question, as in a reset:
   * the next one has the answer.
   */
  private static Answer notKnown(Exception error) {
    String what = "not known yet: ask again with the same reference and commandId";
    return new Answer(503, Map.of("error", what, "message", String.valueOf(error.getMessage())));
  }

  private static void handle(Shop shop, HttpExchange exchange) throws IOException {
    try (exchange) {
      String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      headers.putAll(exchange.getRequestHeaders());
      Answer given = answer(shop, exchange.getRequestURI().getPath(), headers, body);
      byte[] text = Shop.JSON.writeValueAsBytes(given.content());
      exchange.getResponseHeaders().set("content-type", "application/json");
      exchange.sendResponseHeaders(given.status(), text.length);
      exchange.getResponseBody().write(text);
    }
  }

  public static void main(String[] args) throws IOException {
    Map<String, String> env = System.getenv();
    HoldfastCodec codec = new HoldfastCodec(env.getOrDefault("HOLDFAST_ENCRYPTION_KEYS", ""));
    WorkflowServiceStubs stubs =
        WorkflowServiceStubs.newServiceStubs(
            WorkflowServiceStubsOptions.newBuilder()
                .setTarget(env.getOrDefault("TEMPORAL_ADDRESS", "127.0.0.1:7233"))
                .build());
    WorkflowClient temporal =
        WorkflowClient.newInstance(
            stubs,
            WorkflowClientOptions.newBuilder()
                .setNamespace(env.getOrDefault("TEMPORAL_NAMESPACE", "default"))
                // With the text of failures, too.
                .setDataConverter(
                    new CodecDataConverter(DefaultDataConverter.newDefaultInstance(), List.of(codec), true))
                .build());
    int port = Integer.parseInt(env.getOrDefault("PORT", "8080"));
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    String url = env.getOrDefault("SHOP_URL", "http://127.0.0.1:" + server.getAddress().getPort());
    Shop shop = new Shop(temporal, env.getOrDefault("HOLDFAST_NOTIFY_SECRET", ""), url);
    server.createContext("/", exchange -> handle(shop, exchange));
    server.setExecutor(Executors.newCachedThreadPool());
    server.start();
    System.out.println("ready " + url);
  }
}
