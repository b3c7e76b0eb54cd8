import Foundation
import HealthModel
import PeerProtocol
import Testing

@Suite("What a server says of its pairing with a client")
struct PairingViewTests {
  private static let whole: [String: String] = [
    "address": #""192.168.1.7""#, "scope": "{}", "onlyDaily": "false", "lastSeen": "1718361000.25",
    "expires": "1721039400.5", "lowSpace": "false",
    "following": #"{"endpoint":"192.168.1.7:8737","outcome":"unreachable"}"#,
  ]

  /// - Parameter value: The value of the member, or `nil` to omit it.
  private static func view(_ member: String? = nil, _ value: String? = nil) throws -> PairingView {
    var members = whole
    if let member { members[member] = value }
    let text = members.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",")
    return try JSONDecoder().decode(PairingView.self, from: Data("{\(text)}".utf8))
  }

  @Test("every member is read, and comes back as it was")
  func whole() throws {
    let view = try Self.view()
    #expect(view.address == "192.168.1.7" && view.scope == .everything)
    #expect(view.lastSeen?.rawValue == 1_718_361_000.25 && view.expires.rawValue == 1_721_039_400.5)
    #expect(view.following == .init(endpoint: "192.168.1.7:8737", outcome: .unreachable))
    #expect(try JSONDecoder().decode(PairingView.self, from: JSONEncoder().encode(view)) == view)
    #expect(try Self.view("scope", #"{"types":["X"]}"#).scope == SampleFilter(types: [SampleType("X")]))
  }

  @Test("what need not be there, and members of later versions")
  func optional() throws {
    #expect(try Self.view("lastSeen").lastSeen == nil)
    #expect(try Self.view("following").following == nil)
    #expect(try Self.view("following", #"{"outcome":"untried"}"#).following?.endpoint == nil)
    #expect(try Self.view("later", "[1]") == Self.view())
  }

  @Test(
    "anything else is no answer",
    arguments: [
      ("address", nil), ("address", #""""#), ("address", #""10.0.0.1 \u001b[2J""#), ("address", #""1\n2""#),
      ("address", #""\#(String(repeating: "1", count: 65))""#), ("address", "7"), ("scope", nil), ("scope", "[]"),
      ("scope", #"{"earliest":"yesterday"}"#), ("onlyDaily", nil), ("onlyDaily", "1"), ("lastSeen", "1e300"),
      ("lastSeen", #""now""#), ("expires", nil), ("expires", "-1e18"), ("lowSpace", nil), ("following", "[]"),
      ("following", "{}"), ("following", #"{"outcome":"perhaps"}"#),
      ("following", #"{"outcome":"reached","endpoint":""}"#),
      ("following", #"{"outcome":"reached","endpoint":"a\tb:1"}"#),
      ("following", #"{"outcome":"reached","endpoint":"\#(String(repeating: "a", count: 321))"}"#),
    ] as [(String, String?)])
  func malformed(member: String, value: String?) {
    #expect(throws: DecodingError.self) { try Self.view(member, value) }
  }
}
