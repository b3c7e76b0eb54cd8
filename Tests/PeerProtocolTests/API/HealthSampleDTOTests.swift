import Foundation
import HealthAppTransfer
import HealthModel
import PeerProtocol
import Testing

@Suite struct HealthSampleDTOTests {
  private func dto(start: Timestamp, end: Timestamp, dates: DateSpelling) -> HealthSampleDTO {
    HealthSampleDTO(
      id: "6B29FC40-CA47-1067-B31D-00DD010662DA", type: "heartRate", start: start, end: end, sourceName: "Watch 😴",
      dates: dates)
  }

  private func object(_ value: some Encodable) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: JSONEncoder().encode(value)) as? [String: Any])
  }

  private let start = Timestamp(microseconds: 1_718_447_400_750_000)
  private let end = Timestamp(microseconds: -250_000)

  @Test func datesAsText() throws {
    let object = try object(dto(start: start, end: end, dates: .iso8601))
    #expect(object["startDate"] as? String == "2024-06-15T10:30:00Z")
    // Rounded down, before 1970 too.
    #expect(object["endDate"] as? String == "1969-12-31T23:59:59Z")
  }

  @Test func datesAsNumbers() throws {
    let object = try object(dto(start: start, end: end, dates: .reference))
    #expect(object["startDate"] as? Double == 740_140_200.75)
    #expect(object["endDate"] as? Double == -978_307_200.25)
  }

  @Test(arguments: DateSpelling.allCases)
  func theEndsOfTimeHaveASpelling(dates: DateSpelling) throws {
    let ends = dto(start: Timestamp(microseconds: .min), end: Timestamp(microseconds: .max), dates: dates)
    #expect(try object(ends)["startDate"] != nil)
  }

  @Test(arguments: DateSpelling.allCases)
  func whatIsAbsentIsLeftOut(dates: DateSpelling) throws {
    let object = try object(dto(start: start, end: end, dates: dates))
    #expect(Set(object.keys) == ["id", "type", "startDate", "endDate", "sourceName"])
    #expect(object["id"] as? String == "6B29FC40-CA47-1067-B31D-00DD010662DA")
    #expect(object["type"] as? String == "heartRate")
    #expect(object["sourceName"] as? String == "Watch 😴")
  }

  @Test func everythingHasItsName() throws {
    var dto = dto(start: start, end: end, dates: .iso8601)
    dto.sourceBundleIdentifier = "com.apple.health"
    dto.value = 72.5
    dto.unit = "count/min"
    dto.categoryValue = -1
    dto.workoutActivityType = 37
    dto.workoutDuration = 1.5
    dto.workoutTotalEnergyBurned = 100
    dto.workoutTotalDistance = 5000
    dto.correlationValues = ["systolic": 120, "diastolic": 80]
    dto.metadataJSON = #"{"a":1}"#
    let object = try object(dto)
    #expect(object.count == 15)
    #expect(object["sourceBundleIdentifier"] as? String == "com.apple.health")
    #expect(object["value"] as? Double == 72.5)
    #expect(object["unit"] as? String == "count/min")
    #expect(object["categoryValue"] as? Int == -1)
    #expect(object["workoutActivityType"] as? Int == 37)
    #expect(object["workoutDuration"] as? Double == 1.5)
    #expect(object["workoutTotalEnergyBurned"] as? Double == 100)
    #expect(object["workoutTotalDistance"] as? Double == 5000)
    #expect(object["correlationValues"] as? [String: Double] == ["systolic": 120, "diastolic": 80])
    #expect(object["metadataJSON"] as? String == #"{"a":1}"#)
  }

  @Test(arguments: [(0, 10, 25, true), (10, 10, 20, false), (10, 10, 21, true), (0, 10, 0, false), (50, 10, 25, false)])
  func aPageSaysWhetherThereIsMore(offset: Int, limit: Int, total: Int, more: Bool) throws {
    let page = HealthDataPage(type: "heartRate", samples: [], totalCount: total, offset: offset, limit: limit)
    let object = try object(page)
    #expect(object["hasMore"] as? Bool == more)
    #expect(Set(object.keys) == ["type", "samples", "totalCount", "offset", "limit", "hasMore"])
  }

  @Test func typesAreListed() throws {
    let types = HealthTypes(types: [.init(identifier: "heartRate", displayName: "Heart Rate", sampleCount: 3)])
    let entries = try #require(try object(types)["types"] as? [[String: Any]])
    #expect(entries.count == 1)
    #expect(entries[0]["identifier"] as? String == "heartRate")
    #expect(entries[0]["displayName"] as? String == "Heart Rate")
    #expect(entries[0]["sampleCount"] as? Int == 3)
  }
}
