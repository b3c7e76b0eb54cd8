import Foundation
import HealthModel
import PeerProtocol
import Testing

@testable import PeerTrust

@Suite struct PersonKeyTests {
  private let token = BearerToken(exactly: (0..<32).map { UInt8($0) })
  private var key: PersonKey { PersonKey(token.hash) }

  private func person(_ birth: String?, _ sex: String? = nil, _ blood: String? = nil) -> Person {
    var person = Person()
    (person[.dateOfBirth], person[.biologicalSex], person[.bloodType]) = (birth, sex, blood)
    return person
  }

  private var known: Person { person("1986-05-17", "HKBiologicalSexFemale", "HKBloodTypeONegative") }

  /// The vector is in `docs/protocol/person.md`.
  @Test func theTestVector() throws {
    let claim = try #require(key.claim(of: known))
    let values = Dictionary(
      uniqueKeysWithValues: claim.values.map { ($0.key.name, RadixCoding.base64URL.encode($0.value)) })
    #expect(
      values == [
        "d": "UGlbkiX_wG5vy4gGv8ktWhlo-YDahYKC5SfdzT1TOM4", "ds": "EJEEVpxSptEqF_0xa--S4yefVKk6YWtbI8C8fcD7GxQ",
        "db": "n1y11q-u-3IXJwjYQ6q3DgnH_pq9ZvtLc8jR7UXwLWg", "dsb": "t-7TZlRov4Apt3wil1m8hfziB5EnianbHZUqAuhdOro",
      ])
    #expect(try JSONDecoder().decode(PersonClaim.self, from: JSONEncoder().encode(claim)) == claim)
  }

  /// The server compares a client's claim in both directions.
  @Test func onlyWhatBothKnowIsCompared() throws {
    let persons = [
      known, person("1986-05-17"), person("1986-05-17", "HKBiologicalSexFemale"),
      person("1986-05-17", nil, "HKBloodTypeONegative"), person("1987-05-17"),
      person("1986-05-17", "HKBiologicalSexMale"),
      person("1986-05-17", nil, "HKBloodTypeAPositive"), person(nil, "HKBiologicalSexMale"), Person(),
    ]
    for first in persons {
      for second in persons {
        let isComparable = first[.dateOfBirth] != nil && second[.dateOfBirth] != nil
        let expected: PersonAnswer.Verdict =
          !isComparable ? .unknown : first.contradictions(to: second).isEmpty ? .same : .different
        guard let claim = key.claim(of: first) else {
          #expect(first[.dateOfBirth] == nil)
          continue
        }
        #expect(key.compare(claim, with: second) == expected, "\(first) \(second)")
      }
    }
  }

  /// A recorded claim is useless in another pairing and doesn't reveal that two pairings belong to the same person.
  @Test func claimsOfAnotherPairingMeanNothing() throws {
    let other = PersonKey(BearerToken.random().hash)
    let claim = try #require(key.claim(of: known))
    #expect(other.compare(claim, with: known) == .different)
    let another = try #require(other.claim(of: known))
    #expect(Set(another.values.values).isDisjoint(with: claim.values.values))
  }

  @Test func bothSidesHaveTheSameKey() throws {
    let client = try #require(PersonKey(BearerCredential(token)))
    #expect(client.claim(of: known) == key.claim(of: known))
    #expect(PersonKey(try #require(BearerCredential(text: "eyJ0.another-app"))) == nil)
  }

  @Test func textsAreKeptApart() throws {
    let one = try #require(key.claim(of: person("1986-05-17", "ab", "c")))
    let two = try #require(key.claim(of: person("1986-05-17", "a", "bc")))
    #expect(Set(one.values.filter { $0.key.name == "dsb" }.values).isDisjoint(with: two.values.values))
  }

  @Test func aMarkIsOfThePersonTheStoreAndTheClient() {
    let (secret, other) = (Data(repeating: 1, count: 32), Data(repeating: 2, count: 32))
    let mark = PersonMark(of: known, secret: secret, token: token.hash)
    #expect(mark.isEqual(to: PersonMark(of: known, secret: secret, token: token.hash).text))
    #expect(!mark.isEqual(to: PersonMark(of: person("1986-05-17"), secret: secret, token: token.hash).text))
    #expect(!mark.isEqual(to: PersonMark(of: known, secret: other, token: token.hash).text))
    #expect(!mark.isEqual(to: PersonMark(of: known, secret: secret, token: BearerToken.random().hash).text))
    #expect(!mark.isEqual(to: ""))
  }
}
