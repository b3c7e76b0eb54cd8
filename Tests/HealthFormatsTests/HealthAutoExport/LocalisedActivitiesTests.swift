import HealthModel
import Testing

@testable import HealthFormats

@Suite("Names of workouts in other languages") struct LocalisedActivitiesTests {
  @Test(
    "a name is the activity, wherever it was",
    arguments: [
      ("Funktionales Krafttraining", "FunctionalStrengthTraining"), ("Laufen (outdoor)", "Running"),
      ("Outdoor-Gehen", "Walking"), ("Course à pied", "Running"), ("CORRER", "Running"), ("Natación", "Swimming"),
      ("屋外ウォーキング", "Walking"), ("수영", "Swimming"), ("户外跑步", "Running"), ("Fußball", "Soccer"),
      ("Fietsen binnen", "Cycling"), ("Löpning", "Running"),
    ])
  func known(name: String, activity: String) {
    #expect(LocalisedActivities.type(name)?.exported == "HKWorkoutActivityType" + activity)
  }

  @Test(
    "what is in no table stays text",
    arguments: ["Quidditch", "", "outdoor", "()", String(repeating: "Laufen ", count: 99)])
  func unknown(name: String) { #expect(LocalisedActivities.type(name) == nil) }
}
