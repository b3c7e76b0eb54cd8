import Destinations
import Foundation
import HealthModel
import HealthStore
import PeerProtocol
import PeerTrust
import Testing

@testable import HealthOperations

/// Tests of valid settings in `[automation.NAME]`, and of the messages for invalid settings.
struct AutomationSettingsTests {
  static func automation(_ lines: String) throws -> Automation {
    let text = """
      [destination.bucket]
      kind = "folder"
      path = "/var/empty"

      [automation.one]
      \(lines)
      """
    return try #require(try Automation.all(in: try SettingsFile(text: text, path: "config.toml")).first)
  }

  private func mistake(_ lines: String) throws -> String {
    do {
      _ = try Self.automation(lines)
    } catch {
      return "\(error)"
    }
    Issue.record("\(lines) was taken")
    return ""
  }

  @Test("every kind, as its owner writes it and as it is told")
  func kinds() throws {
    func told(_ lines: String) throws -> String {
      let automation = try Self.automation(lines)
      return "\(automation.trigger): \(automation.action)"
    }
    #expect(
      try told(
        #"when = "time"\nat = ["22:00", "7:30"]\ndays = ["fri", "MON"]\ndo = "deliver"\ndestinations = ["bucket"]"#
          .lined)
        == "at 07:30, 22:00 on mon, fri: deliver to bucket")
    #expect(try told(#"when = "interval"\nevery = "90m"\ndo = "pull""#.lined) == "every 90m: pull from all")
    #expect(
      try told(#"when = "change"\ntypes = ["stepCount"]\ndo = "command"\ncommand = ["/bin/echo", "x"]"#.lined)
        == "change of stepCount: run echo")
    #expect(
      try told(#"when = "peer"\npeer = "iPhone"\ndo = "pull"\npeers = ["iPhone"]"#.lined)
        == "iPhone appears: pull from iPhone")
    #expect(
      try told(
        #"when = "threshold"\ntype = "bodyMass"\nabove = 80.5\nhysteresis = 1\ndo = "command"\ncommand = ["true"]"#
          .lined)
        == "bodyMass above 80.5 kg: run true")
    #expect(
      try told(#"when = "file"\nfolder = "/tmp/in"\ndo = "import""#.lined) == "file in /tmp/in: import it")
  }

  @Test(
    "what makes no sense is refused with its line and key",
    arguments: [
      (#"do = "pull""#, "automation.one.when"),
      (#"when = "tim"\ndo = "pull""#, "must be one of change, interval, time"),
      (#"when = "interval"\ndo = "pull""#, "automation.one.every"),
      (#"when = "interval"\nevery = "3"\ndo = "pull""#, "such as 15m"),
      (#"when = "interval"\nevery = "1s"\ndo = "pull""#, "must be from 10s to 366d"),
      (#"when = "interval"\nevery = "99999999999999999999d"\ndo = "pull""#, "such as 15m"),
      (#"when = "interval"\nevery = "9223372036854775807d"\ndo = "pull""#, "such as 15m"),
      (#"when = "time"\nat = ["24:00"]\ndo = "pull""#, "24:00 is none"),
      (#"when = "time"\nat = []\ndo = "pull""#, "names no time"),
      (#"when = "time"\nat = ["1:1"]\ndays = ["someday"]\ndo = "pull""#, "must be of mon"),
      (#"when = "threshold"\ntype = "bodyMass"\ndo = "pull""#, "a number, or below with one"),
      (#"when = "threshold"\ntype = "bodyMass"\nabove = 1\nbelow = 2\ndo = "pull""#, "make two automations"),
      (#"when = "threshold"\ntype = "bodyMass"\nabove = nan\ndo = "pull""#, "automation.one.above"),
      (#"when = "threshold"\ntype = "bodyMass"\nabove = 1\nunit = "mmHg"\ndo = "pull""#, "is no unit of bodyMass"),
      (#"when = "threshold"\ntype = "workout"\nabove = 1\ndo = "pull""#, "has no number"),
      (#"when = "change"\ntypes = ["stepCont"]\ndo = "pull""#, "did you mean stepCount"),
      (#"when = "change"\ndo = "deliver""#, "automation.one.destinations"),
      (#"when = "change"\ndo = "deliver"\ndestinations = ["bukket"]"#, "no destination called bukket"),
      (#"when = "change"\ndo = "command"\ncommand = []"#, "names no program"),
      (#"when = "file"\nfolder = "/tmp"\npath = "/tmp/x"\ndo = "import""#, "path is no setting here"),
      (#"when = "change"\ndo = "pull"\nevery = "1h""#, "every is no setting here"),
    ])
  func mistakes(lines: String, says: String) throws {
    let text = try mistake(lines.lined)
    #expect(text.hasPrefix("config.toml:") && text.contains("automation.one"), "\(text)")
    let bare = says.hasSuffix("is no setting here") ? "is no setting here" : says
    #expect(text.contains(bare), "\(text)")
  }

  @Test("what an automation delivers or pulls in its time is told from what is done all the time")
  func timed() throws {
    let deliver = try Self.automation(
      #"when = "interval"\nevery = "1h"\ndo = "deliver"\ndestinations = ["bucket"]"#.lined)
    let off = try Self.automation(#"when = "interval"\nevery = "1h"\ndo = "pull"\nenabled = false"#.lined)
    let pull = try Self.automation(#"when = "interval"\nevery = "1h"\ndo = "pull"\npeers = ["Studio"]"#.lined)
    #expect([deliver, off].timedDestinations == ["bucket"])
    func server(_ name: String, _ digits: String) throws -> ServerRecord {
      ServerRecord(
        id: try #require(PeerID(hex: String(repeating: digits, count: 16))), name: name,
        fingerprint: try #require(Fingerprint(hex: String(repeating: "cd", count: 32))),
        credential: try #require(BearerCredential(text: "token")))
    }
    let (studio, attic) = (try server("studio", "ab"), try server("attic", "12"))
    #expect(![deliver, off].times(pullsFrom: studio))
    #expect([pull].times(pullsFrom: studio) && ![pull].times(pullsFrom: attic))
    let byID = try Self.automation(
      #"when = "interval"\nevery = "1h"\ndo = "pull"\npeers = ["\#(attic.id.hex.prefix(8))"]"#.lined)
    #expect([byID].times(pullsFrom: attic) && ![byID].times(pullsFrom: studio))
  }
}

extension String {
  /// The text with `\n` replaced by line breaks.
  var lined: String { replacingOccurrences(of: #"\n"#, with: "\n") }
}
