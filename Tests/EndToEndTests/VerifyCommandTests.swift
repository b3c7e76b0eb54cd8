import Foundation
import Testing

/// Tests of digests and comparisons on the command line, between two homes on loopback.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct VerifyCommandTests {
  @Test("a pull ends with a comparison, and whatever differs later is named with exit code 9")
  func comparing() async throws {
    let homes = try await PairedHomes(export: .small, deleting: "bodyMass")
    let (studio, laptop) = (homes.studio, homes.laptop)
    let (server, port) = try await homes.serve()
    let host = ["--host", "127.0.0.1:\(port)"]

    let before = try await laptop.start(["verify"] + host).outcome()
    #expect(before.status == 9)
    #expect(before.output.contains(#/heartRate +\d{4}-\d\d +none here, [\d,]+ samples? there/#))
    #expect(before.output.contains(#/bodyMass +\d{4}-\d\d +none here, [\d,]+ deletions? there/#))

    let pulled = try await laptop.start(["pull", "--verify", "--deep"] + host).outcome()
    #expect(pulled.status == 0, "\(pulled.errors)")
    #expect(pulled.output.contains(#/studio: [\d,]+ added/#))
    #expect(pulled.output.contains(#/studio: equal, down to what each sample says: [\d,]+ samples of \d+ types, /#))
    let digests = try await (studio.run("digest", "--months", "--deep"), laptop.run("digest", "--months", "--deep"))
    #expect(digests.0.output == digests.1.output)
    #expect(digests.0.output.split(separator: "\n").count > 10)

    let json = try await laptop.start(["verify", "--json"] + host).outcome()
    #expect(json.status == 0)
    #expect(try json.json()["equal"] as? Bool == true)

    // Gone there, and not yet here.
    let deletion = ["delete", "--type", "stepCount", "--from", "2000-01-01", "--to", "2100-01-01", "--yes"]
    #expect(try await studio.start(deletion).outcome().status == 0)
    let after = try await laptop.start(["verify"] + host).outcome()
    #expect(after.status == 9)
    #expect(
      after.output.contains(
        #/stepCount +\d{4}-\d\d +[\d,]+ samples? here, none there; none here, [\d,]+ deletions? there/#))
    #expect(!after.output.contains("heartRate"))
    #expect(after.errors.contains("hpeer pull"))
    #expect(try await laptop.start(["verify", "--types", "heartRate,workout"] + host).outcome().status == 0)
    let again = try await laptop.start(["pull", "--verify", "--json"] + host).outcome()
    #expect(again.status == 0, "\(again.errors)")
    let verification = try #require(try again.json()["verification"] as? [String: Any])
    #expect(verification["equal"] as? Bool == true)
    #expect((verification["differences"] as? [Any])?.isEmpty == true)

    // Here, and not there: pulling does not help.
    #expect(try await laptop.run("import", SampleExport.smallLater.path).status == 0)
    let ahead = try await laptop.start(["pull", "--verify", "--json"] + host).outcome()
    #expect(ahead.status == 9)
    #expect(ahead.errors.contains("when that pulls from here"))
    let report = try #require(try ahead.json()["verification"] as? [String: Any])
    let differences = try #require(report["differences"] as? [[String: Any]])
    #expect(differences.allSatisfy { ($0["month"] as? String)?.count == 7 && $0["identifier"] is String })

    let client = try await laptop.run("audit").output
    #expect(client.contains(#/verify\.finished .*deep=true.* equal=true .*peer=studio/#))
    #expect(client.contains(#/verify\.finished .*equal=false /#))
    #expect(try await studio.run("audit").output.contains(#/digest\.read +.*peer=/#))
    try await server.end()
    let gone = try await laptop.start(["verify"] + host).outcome()
    #expect(gone.status == 3)
    #expect(try await laptop.run("audit").output.contains(#/verify\.failed .*reason=unreachable/#))
    #expect(try await laptop.run("audit", "verify").status == 0)
  }

  @Test("a digest is the same whatever was kept before, and says what there is")
  func digests() async throws {
    let scratch = try Scratch()
    let home = scratch.host("home")
    #expect(try await home.run("digest").status == 10)
    #expect(try await home.run("verify", "studio").status == 10)
    try await home.hold(.small)
    for arguments in [[], ["studio"]] {
      let unpaired = try await home.start(["verify"] + arguments).outcome()
      #expect(unpaired.status == 4, "\(unpaired.errors)")
      #expect(unpaired.errors.contains("Nothing is paired to compare with"), "\(unpaired.errors)")
    }
    let digest = try await home.run("digest")
    #expect(digest.status == 0)
    #expect(digest.lastLine.contains(#/^all +[\d,]+ +\d+ +[0-9a-f]{32}$/#))
    #expect(try await home.run("digest", "--anew").output == digest.output)
    let some = try await home.run("digest", "--types", "heartRate", "--json").json()
    let types = try #require(some["types"] as? [[String: Any]])
    #expect(types.map { $0["type"] as? String } == ["heartRate"])
    #expect(try await home.run("digest", "--types", "nonsense").status == 2)
    #expect(try await home.run("pull", "--deep").status == 2)
    let stranger = try await home.run("verify", "--host", "127.0.0.1:1")
    #expect(stranger.status == 3)
  }

  @Test("a machine that is not paired is not compared with")
  func notPaired() async throws {
    let scratch = try Scratch()
    let (home, other) = (scratch.host("home"), scratch.host("other"))
    for host in [home, other] { #expect(try await host.run("import", SampleExport.small.path).status == 0) }
    let (_, port) = try await other.serve(PairedHomes.serveArguments)
    let outcome = try await home.run("verify", "--host", "127.0.0.1:\(port)")
    #expect(outcome.status == 4)
    #expect(outcome.errors.contains("hpeer pair"))
  }
}
