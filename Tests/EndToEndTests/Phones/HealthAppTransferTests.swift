import Foundation
import Terminal
import TestSupport
import Testing

@Suite(
  .serialized, .timeLimit(.minutes(10)),
  .enabled(if: TwoHosts.obstacle == nil, "two hosts need root: \(TwoHosts.obstacle ?? "")"))
struct HealthAppTransferTests {
  @Test("a phone is discovered, paired with by its QR text, pulled from, found at another port, and forgotten")
  func wholeLife() async throws {
    let hosts = try await TwoHosts()
    let phone = try await Phone("hat", "HealthSync-iOS", on: hosts, heartRates: 3_000)
    let laptop = hosts.laptop
    let table = try await eventually("it is listed") {
      let outcome = try await laptop.run("discover")
      return outcome.output.contains("HealthAppTransfer") ? outcome.output : nil
    }
    #expect(table.contains("not paired: hpeer pair HealthSync-iOS --qr PICTURE"), "\(table)")
    // By code alone, nobody knows whom one speaks with.
    for command in ["pull", "pair"] {
      let alone = try await laptop.run(command, "HealthSync-iOS", "--code-stdin", input: "123456\n")
      #expect(alone.status == 4, "\(alone.errors)")
      #expect(alone.errors.contains("--fingerprint"), "\(alone.errors)")
    }

    // The address in a code may be none, and a clock may be wrong: the certificate finds it.
    let payload = try await phone.tell("payload 127.0.0.1 -4000")
    let paired = try await laptop.run("pair", "HealthSync-iOS", "-", input: payload + "\n")
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.errors.contains("clock"))
    #expect(try await laptop.run("pair", "HealthSync-iOS", "-", input: payload + "\n").status == 6)

    let first = try await laptop.run("pull", "HealthSync-iOS", "--json").json()
    #expect(first["added"] as? Int == 3_000)
    #expect(try await laptop.run("peers").output.contains("heartRate verified back to"))
    try await covered(laptop)

    // Another port.
    try await phone.tell("stop")
    let away = try await laptop.run("pull", "HealthSync-iOS")
    #expect(away.status == 3)
    #expect(away.errors.contains("Start Sharing"), "\(away.errors)")
    try await phone.tell("start")
    try await phone.tell("add 5")
    let again = try await laptop.run("pull", "--all", "--verify")
    #expect(again.status == 0, "\(again.errors)")
    #expect(again.output.contains("5 added"))

    try await phone.tell("fail heartRate")
    let partial = try await laptop.run("verify", "HealthSync-iOS")
    #expect(partial.status == 12 && partial.output.isEmpty)
    #expect(partial.errors.contains("HealthSync-iOS could not send heartRate (it answered 500"), "\(partial.errors)")
    let report = try await laptop.run("verify", "HealthSync-iOS", "--json")
    #expect(report.status == 12)
    let schema = try JSONSchema(directory: Build.root + "/docs/reference/schemas")
    #expect(try schema.violations(of: report.output.split(separator: "\n")[0], against: "verify.json") == [])
    try await phone.tell("fail")

    try await phone.tell("lock")
    let locked = try await laptop.run("pull")
    #expect(locked.status == 14)
    #expect(locked.errors.contains("unlock the phone"))
    try await phone.tell("unlock")
    try await phone.tell("forget")
    #expect(try await laptop.run("pull").status == 4)
    let audit = try await laptop.run("audit").output
    #expect(audit.contains("HealthAppTransfer"))
    let unpaired = try await laptop.run("unpair", "HealthSync-iOS")
    #expect(unpaired.status == 0, "\(unpaired.errors)")
    #expect(try await laptop.run("peers", "--json").output.contains(#""servers":[]"#))
    #expect(try await phone.tell("state") == "done ")
  }

  /// Expects that the covered period is reported for each type, in text and in JSON.
  private func covered(_ laptop: Host) async throws {
    let schema = try JSONSchema(directory: Build.root + "/docs/reference/schemas")
    for (command, list, status) in [("peers", "servers", 0), ("status", "peers", 3)] {
      let outcome = try await laptop.run(command, "--json")
      #expect(outcome.status == status, "\(outcome.errors)")
      let line = outcome.output.split(separator: "\n")[0]
      #expect(try schema.violations(of: line, against: "\(command).json") == [])
      let peers = try #require(try outcome.json()[list] as? [[String: Any]])
      let coverage = try #require(peers.first?["coverage"] as? [String: Any])
      let types = try #require(coverage["types"] as? [[String: Any]])
      #expect(types.map { $0["type"] as? String } == ["heartRate"])
      #expect(types.first?["samples"] as? Int == 3_000)
      #expect(types.first?["complete"] as? Bool == true)
      #expect(types.first?["since"] is String && types.first?["swept"] is String)
    }
    let text = try await laptop.run("status").output
    #expect(text.contains(#/OF HealthSync-iOS +SAMPLES +COMPLETE BACK TO +LAST READ WHOLE/#), "\(text)")
    #expect(text.contains(#/heartRate +3,000 +20\d\d-\d\d-\d\d +20\d\d-/#), "\(text)")
  }

  @Test("a phone is paired with by a picture, and by the code and the fingerprint on its screen")
  func pairing() async throws {
    let hosts = try await TwoHosts()
    let laptop = hosts.laptop
    do {
      let phone = try await Phone("hat", "HealthSync-iOS", on: hosts, heartRates: 0)
      let code = try QRCode(try await phone.tell("payload"))
      let picture = GreyImage(modules: code.moduleCount, scale: 4, isDark: code.isDark).turned(degrees: 9)
      let path = hosts.scratch.path + "/shot.png"
      try Data(picture.png).write(to: URL(fileURLWithPath: path))
      let paired = try await laptop.run("pair", "HealthSync-iOS", "--qr", path)
      #expect(paired.status == 0, "\(paired.errors)")
      #expect(try await laptop.run("pull").output.contains("the phone lists nothing"))
      try await phone.tell("add 40")
      #expect(try await laptop.run("pull", "--json").json()["added"] as? Int == 40)
      #expect(try await phone.tell("state") == "done ")
      // Paired, and still nothing for a code alone.
      #expect(try await laptop.run("pair", "HealthSync-iOS", "--code-stdin", input: "123456\n").status == 4)
      #expect(try await laptop.run("unpair", "HealthSync-iOS").status == 0)
    }
    let phone = try await Phone("hsi", "HealthSync-3FA2C41D", on: hosts, heartRates: 40)
    let table = try await eventually("it is listed") {
      let output = try await laptop.run("discover").output
      return output.contains("HealthSync-3FA2C41D") ? output : nil
    }
    #expect(table.contains("copy its QR text, then hpeer pair HealthSync-3FA2C41D -"), "\(table)")
    let payload = try JSONSerialization.jsonObject(with: Data(try await phone.tell("payload").utf8)) as? [String: Any]
    let code = try #require(payload?["code"] as? String)
    let hex = try #require(payload?["certificateFingerprint"] as? String).uppercased()
    let shown = stride(from: 0, to: 64, by: 2).map { hex.dropFirst($0).prefix(2) }.joined(separator: ":")
    let wrong = (hex.hasPrefix("0") ? "1" : "0") + hex.dropFirst()
    let refused = try await laptop.run(
      "pair", "HealthSync-3FA2C41D", "--fingerprint", wrong, "--code-stdin", input: code + "\n")
    #expect(refused.status == 8, "\(refused.errors)")
    let paired = try await laptop.run(
      "pair", "HealthSync-3FA2C41D", "--fingerprint", shown, "--code-stdin", input: code + "\n")
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(try await laptop.run("pull", "--merge-person", "--json").json()["added"] as? Int == 40)
    #expect(try await phone.tell("state") == "done ")
  }

  @Test("a sibling's phone at the same address, or with the same name, is another phone and no alarm")
  func sibling() async throws {
    let hosts = try await TwoHosts()
    let laptop = hosts.laptop
    let first = try await Phone("hat", "HealthSync-iOS", on: hosts, heartRates: 40)
    let payload = try await first.tell("payload")
    #expect(try await laptop.run("pair", "mine", "-", input: payload + "\n").status == 0)
    #expect(try await laptop.run("pull", "mine").status == 0)
    #expect(try await laptop.run("verify", "mine").status == 0)
    try await first.tell("stop")
    let object = try JSONSerialization.jsonObject(with: Data(payload.utf8)) as? [String: Any]
    let port = try #require(object?["port"] as? Int)
    let second = try await Phone("hat", "HealthSync-iOS", on: hosts, heartRates: 40, port: port)
    for command in ["verify", "pull"] {
      let outcome = try await laptop.run(command, "mine")
      #expect(outcome.status == 3, "\(outcome.errors)")
      #expect(outcome.errors.contains("another phone answers in its place"), "\(outcome.errors)")
      #expect(!outcome.errors.contains("STOP"))
    }
    // Beside it, under another name and at another port, it is found by its certificate.
    try await first.tell("start")
    let verified = try await laptop.run("verify", "mine")
    #expect(verified.status == 0, "\(verified.errors)")
    #expect(try await laptop.run("pull", "mine").status == 0)
    for phone in [first, second] { #expect(try await phone.tell("state") == "done ") }
  }

  @Test("an automation pulls from a phone when it appears, and hpeer run leaves that to it")
  func automation() async throws {
    let hosts = try await TwoHosts()
    let phone = try await Phone("hat", "HealthSync-iOS", on: hosts, heartRates: 40)
    let laptop = hosts.laptop
    let payload = try await phone.tell("payload")
    #expect(try await laptop.run("pair", "HealthSync-iOS", "-", input: payload + "\n").status == 0)
    try await phone.tell("stop")
    let added = try await laptop.run(
      "automation", "add", "phone", "--when", "peer", "--do", "pull", "--set", "peer=HealthSync-iOS", "--set",
      "peers=HealthSync-iOS")
    #expect(added.status == 0, "\(added.errors)")
    let running = try laptop.start(["run", "--no-serve"])
    try await phone.tell("start")
    try await running.errors(matching: #/phone: HealthSync-iOS: 40 added/#)
    // It goes away and comes back.
    try await phone.tell("stop")
    try await phone.tell("add 5")
    try await phone.tell("start")
    try await running.errors(matching: #/phone: HealthSync-iOS: 5 added/#)
    running.send(SIGTERM)
    #expect(try await running.outcome().status == 0)
    let history = try await laptop.run("automation", "history", "phone").output
    #expect(history.components(separatedBy: "automation.finished").count >= 3, "\(history)")
    #expect(try await phone.tell("state") == "done ")
  }

  @Test("HealthSync, and a phone that appears is pulled from at once")
  func watching() async throws {
    let hosts = try await TwoHosts()
    let phone = try await Phone("hsi", "HealthSync-3FA2C41D", on: hosts, heartRates: 500)
    let laptop = hosts.laptop
    let payload = try await phone.tell("payload")
    let paired = try await laptop.run("pair", "-", input: payload + "\n")
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.errors.contains("HealthSync-3FA2C41D (HealthSync)"))
    #expect(try await laptop.run("pull", "--json").json()["added"] as? Int == 500)
    try await phone.tell("stop")
    let watching = try laptop.start(["pull", "--watch", "--all"])
    try await watching.errors(matching: #/no contact yet/#)
    try await phone.tell("add 7")
    let appeared = ContinuousClock.now
    try await phone.tell("start")
    try await eventually("what is new has come") { watching.output.contains("7 added") ? true : nil }
    // Two seconds, and what a busy machine takes to do it.
    #expect(ContinuousClock.now - appeared < .seconds(20))
    watching.send(SIGTERM)
    #expect(try await watching.outcome().status == 0)
    #expect(try await phone.tell("state") == "done ")
  }
}
