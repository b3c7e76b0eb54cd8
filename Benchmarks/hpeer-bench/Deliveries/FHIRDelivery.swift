import Foundation
import OperatingSystem
import TestSupport

/// A benchmark of the destination `fhir` with the server of the tests, compared with a script that sends the same
/// resources to a second server.
struct FHIRDelivery {
  private let bench: Bench

  init(_ bench: Bench) { self.bench = bench }

  private static let token = "s3cret"
  private static let byHand = """
    import json, sys, time, urllib.request
    def ask(url, body=None):
      headers = {"Authorization": "Bearer " + sys.argv[3], "Content-Type": "application/fhir+json"}
      with urllib.request.urlopen(urllib.request.Request(url, body, headers)) as answer: return answer.read()
    entries = []
    for line in ask(sys.argv[1] + "/_all").splitlines():
      resource = json.loads(line)
      del resource["id"]
      identifier = resource["identifier"][0]["value"]
      request = {"method": "PUT", "url": "Observation?identifier=urn:ietf:rfc:3986%7C" + identifier}
      entries.append({"fullUrl": identifier, "resource": resource, "request": request})
    bundles = [{"resourceType": "Bundle", "type": "transaction", "entry": entries[start:start + 200]}
               for start in range(0, len(entries), 200)]
    bodies = [json.dumps(bundle).encode() for bundle in bundles]
    started = time.monotonic()
    for body in bodies: ask(sys.argv[2] + "/", body)
    print(time.monotonic() - started, sum(map(len, bodies)))
    """

  func measure() async throws -> Row {
    let environment = await onThread { _ in PythonEnvironment("fhir") }
    guard let path = environment.program("python") else { return Row(.fhir, skipped: environment.missing) }
    let python = try Program(path: path)
    var comparison = DeliveryComparison()
    for round in 0..<bench.sizes.warmUps + bench.sizes.repeats {
      Log.say("  round \(round + 1)")
      let key = bench.workspace.fresh("key")
      try PrivateFile.create(key, Array(Self.token.utf8))
      let (first, port) = try await serve(path)
      let (second, other) = try await serve(path)
      let delivery = try await TimedDelivery(
        bench,
        [
          "kind = \"fhir\"", "url = \"http://127.0.0.1:\(port)\"", "token = \"file:\(key)\"",
          "subject = \"Patient/bench\"",
        ], count: TimedDelivery.few(bench))
      let said = try await python.run(
        ["-c", Self.byHand, "http://127.0.0.1:\(port)", "http://127.0.0.1:\(other)", Self.token], home: nil,
        in: bench.workspace)
      for service in [first, second] { try await service.stop(SIGKILL) }
      let floor = try DeliveryComparison.floor(said.output, of: "What was done by hand")
      if round >= bench.sizes.warmUps { comparison.add(delivery, floor: floor) }
      for path in [key, delivery.home] { bench.workspace.remove(path) }
    }
    return comparison.row(.fhir, byHand: "by hand")
  }

  private func serve(_ python: String) async throws -> (service: Service, port: Int) {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
      .standardizedFileURL.path
    // It says its port on standard output.
    return try await OtherProgram.start(
      "/bin/sh",
      [
        "-c", "exec \"$@\" >&2", "sh", python, "\(root)/Tests/Tools/fhir-server",
        "\(root)/docs/reference/formats/fhir/StructureDefinition-sample.json", Self.token, "any-patient",
      ], #/LISTENING ON (\d+) /#, bench)
  }
}
