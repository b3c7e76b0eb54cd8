import Foundation
import Testing

@Suite(
  .serialized, .timeLimit(.minutes(5)),
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
    #expect(table.contains("not paired"))
    // By code alone, nobody knows whom one speaks with.
    #expect(try await laptop.run("pull", "HealthSync-iOS", "--code-stdin", input: "123456\n").status == 3)

    // The address in a code may be none, and a clock may be wrong: the certificate finds it.
    let payload = try await phone.tell("payload 127.0.0.1 -4000")
    let paired = try await laptop.run("pair", "HealthSync-iOS", "-", input: payload + "\n")
    #expect(paired.status == 0, "\(paired.errors)")
    #expect(paired.errors.contains("clock"))
    #expect(try await laptop.run("pair", "HealthSync-iOS", "-", input: payload + "\n").status == 6)

    let first = try await laptop.run("pull", "HealthSync-iOS", "--json").json()
    #expect(first["added"] as? Int == 3_000)
    #expect(try await laptop.run("peers").output.contains("heartRate verified back to"))

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
    #expect(ContinuousClock.now - appeared < .seconds(6))
    watching.send(SIGTERM)
    #expect(try await watching.outcome().status == 0)
    #expect(try await phone.tell("state") == "done ")
  }
}
