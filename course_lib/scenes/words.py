"""The words of the scenes: who is there, what they do, with what and where, in English and in German."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Gender = Literal["m", "f", "n"]


@dataclass(frozen=True)
class SceneNoun:
    """A noun of both languages.

    Attributes:
        english: one of them; `englishes` several.
        gender: of the German noun.
        german: one, in the nominative; `germans` several.
        weak: whether it takes -n or -en in all other cases: *der Junge, den Jungen*.
        adjectives: groups of adjectives that suit it (`ADJECTIVES_OF`).
        possessive: English *his*, *her* or *their*; empty where none is sure.
    """

    english: str
    englishes: str
    gender: Gender
    german: str
    germans: str
    weak: bool = False
    adjectives: str = ""
    possessive: str = ""


ADJECTIVES_OF = {
    "c": "red=rot blue=blau green=grün yellow=gelb white=weiß black=schwarz brown=braun grey=grau",
    "s": "big=groß small=klein",
    "a": "old=alt new=neu",
    "l": "long=lang",
    "p": "old=alt young=jung tall=groß happy=fröhlich tired=müd laughing=lachend blond=blond thin=dünn",
    "b": "bearded=bärtig",
    "t": "small=klein wet=nass black=schwarz white=weiß brown=braun young=jung fat=dick spotted=gefleckt",
}
"""English and German adjectives (the stem) by the groups that nouns name."""


def _nouns(table: str) -> dict[str, SceneNoun]:
    found = {}
    for line in table.strip().splitlines():
        english, englishes, gender, german, germans, adjectives, *more = line.split("|")
        possessive = next((word for word in more if word in ("his", "her", "their")), "")
        found[english] = SceneNoun(
            *(english, englishes, gender, german, germans),  # type: ignore[arg-type]
            weak="weak" in more,
            adjectives=adjectives,
            possessive=possessive,
        )
    return found


PEOPLE = _nouns("""
man|men|m|Mann|Männer|pb|his
woman|women|f|Frau|Frauen|p|her
boy|boys|m|Junge|Jungen|p|weak|his
girl|girls|n|Mädchen|Mädchen|p|her
child|children|n|Kind|Kinder|p
lady|ladies|f|Dame|Damen|p|her
farmer|farmers|m|Bauer|Bauern|pb|weak|his
fisherman|fishermen|m|Fischer|Fischer|pb|his
cook|cooks|m|Koch|Köche|pb|his
waiter|waiters|m|Kellner|Kellner|p|his
policeman|policemen|m|Polizist|Polizisten|pb|weak|his
musician|musicians|m|Musiker|Musiker|pb|his
workman|workmen|m|Arbeiter|Arbeiter|pb|his
gardener|gardeners|m|Gärtner|Gärtner|pb|his
dancer|dancers|f|Tänzerin|Tänzerinnen|p|her
singer|singers|f|Sängerin|Sängerinnen|p|her
student|students|f|Studentin|Studentinnen|p|her
cyclist|cyclists|m|Radfahrer|Radfahrer|pb|his
grandmother|grandmothers|f|Großmutter|Großmütter||her
grandfather|grandfathers|m|Großvater|Großväter|b|his
""")
"""Who does something."""

ANIMALS = _nouns("""
dog|dogs|m|Hund|Hunde|t
cat|cats|f|Katze|Katzen|t
horse|horses|n|Pferd|Pferde|t
bird|birds|m|Vogel|Vögel|t
duck|ducks|f|Ente|Enten|t
sheep|sheep|n|Schaf|Schafe|t
goat|goats|f|Ziege|Ziegen|t
cow|cows|f|Kuh|Kühe|t
puppy|puppies|m|Welpe|Welpen|t|weak
rabbit|rabbits|n|Kaninchen|Kaninchen|t
""")
"""And what else is alive."""

CLOTHES = _nouns("""
jacket|jackets|f|Jacke|Jacken|csa
coat|coats|m|Mantel|Mäntel|cla
dress|dresses|n|Kleid|Kleider|cla
shirt|shirts|n|Hemd|Hemden|ca
pullover|pullovers|m|Pullover|Pullover|ca
suit|suits|m|Anzug|Anzüge|ca
hat|hats|m|Hut|Hüte|csa
cap|caps|f|Mütze|Mützen|cs
scarf|scarves|m|Schal|Schals|cl
helmet|helmets|m|Helm|Helme|c
apron|aprons|f|Schürze|Schürzen|cl
backpack|backpacks|m|Rucksack|Rucksäcke|csa
""")
"""What people wear: *wearing* in English, *mit* in German."""

THINGS = _nouns("""
book|books|n|Buch|Bücher|csa
newspaper|newspapers|f|Zeitung|Zeitungen|a
letter|letters|m|Brief|Briefe|l
map|maps|f|Karte|Karten|sa
picture|pictures|n|Bild|Bilder|s
apple|apples|m|Apfel|Äpfel|s
banana|bananas|f|Banane|Bananen|
cake|cakes|m|Kuchen|Kuchen|s
sandwich|sandwiches|n|Brot|Brote|
soup|soups|f|Suppe|Suppen|
pizza|pizzas|f|Pizza|Pizzas|s
guitar|guitars|f|Gitarre|Gitarren|cas
violin|violins|f|Geige|Geigen|a
trumpet|trumpets|f|Trompete|Trompeten|
drum|drums|f|Trommel|Trommeln|s
song|songs|n|Lied|Lieder|a
car|cars|n|Auto|Autos|csa
bus|buses|m|Bus|Busse|c
bicycle|bicycles|n|Fahrrad|Fahrräder|ca
boat|boats|n|Boot|Boote|csa
truck|trucks|m|Lastwagen|Lastwagen|cs
ball|balls|m|Ball|Bälle|cs
kite|kites|m|Drachen|Drachen|cs
rope|ropes|n|Seil|Seile|l
ladder|ladders|f|Leiter|Leitern|l
bucket|buckets|m|Eimer|Eimer|cs
basket|baskets|m|Korb|Körbe|s
bag|bags|f|Tasche|Taschen|csa
suitcase|suitcases|m|Koffer|Koffer|csa
umbrella|umbrellas|m|Regenschirm|Regenschirme|cs
box|boxes|f|Kiste|Kisten|s
bench|benches|f|Bank|Bänke|ca
chair|chairs|m|Stuhl|Stühle|ca
sofa|sofas|n|Sofa|Sofas|csa
bed|beds|n|Bett|Betten|s
table|tables|m|Tisch|Tische|sl
wall|walls|f|Mauer|Mauern|a
rock|rocks|m|Felsen|Felsen|s
blanket|blankets|f|Decke|Decken|cs
carpet|carpets|m|Teppich|Teppiche|ca
tree|trees|m|Baum|Bäume|sa
house|houses|n|Haus|Häuser|csa
shop|shops|m|Laden|Läden|s
window|windows|n|Fenster|Fenster|s
door|doors|f|Tür|Türen|ca
bridge|bridges|f|Brücke|Brücken|a
fountain|fountains|m|Brunnen|Brunnen|sa
church|churches|f|Kirche|Kirchen|sa
fence|fences|m|Zaun|Zäune|ca
tent|tents|n|Zelt|Zelte|csa
flower|flowers|f|Blume|Blumen|c
fish|fish|m|Fisch|Fische|s
snowman|snowmen|m|Schneemann|Schneemänner|s
sandcastle|sandcastles|f|Sandburg|Sandburgen|s
camera|cameras|f|Kamera|Kameras|
telephone|telephones|n|Telefon|Telefone|a
shoe|shoes|m|Schuh|Schuhe|ca
plate|plates|m|Teller|Teller|c
glass|glasses|n|Glas|Gläser|
fire|fires|n|Feuer|Feuer|s
stick|sticks|m|Stock|Stöcke|l
bone|bones|m|Knochen|Knochen|s
puddle|puddles|f|Pfütze|Pfützen|s
""")
"""What they do it with, or beside."""

SPOTS = (
    ("on", "auf", "bench chair sofa bed wall rock blanket carpet"),
    ("next to", "neben", "car bus bicycle tree fountain church tent truck window fence table fire"),
    ("in front of", "vor", "house shop church window door tent fountain car bus wall"),
    ("behind", "hinter", "house car fence tree wall church truck"),
    ("under", "unter", "tree bridge umbrella table"),
)
"""Prepositions, with the nouns that may follow: the German ones take the dative here."""

PLACES = {
    "outside": """in the park=im Park; in the garden=im Garten; on the street=auf der Straße; at the beach=am Strand;
        on the square=auf dem Platz; in the snow=im Schnee; in the rain=im Regen; in the forest=im Wald;
        on a meadow=auf einer Wiese; in the sunshine=im Sonnenschein; by the lake=am See; at the river=am Fluss;
        in the middle of the city=mitten in der Stadt; on the pavement=auf dem Gehweg; at the market=auf dem Markt;
        in the mountains=in den Bergen; in the playground=auf dem Spielplatz; in a field=auf einem Feld""",
    "inside": """in the kitchen=in der Küche; in a restaurant=in einem Restaurant; in the library=in der Bibliothek;
        at home=zu Hause; in a café=in einem Café; in the living room=im Wohnzimmer; at the station=am Bahnhof;
        on the train=im Zug; in a classroom=in einem Klassenzimmer; at the airport=am Flughafen;
        in an office=in einem Büro; in the hall=im Flur; in a shop=in einem Laden""",
    "stage": """on the stage=auf der Bühne; in front of an audience=vor einem Publikum; at a party=auf einem Fest;
        at a concert=bei einem Konzert; in a bar=in einer Bar; on the street=auf der Straße; in the park=im Park""",
    "kitchen": """in the kitchen=in der Küche; at home=zu Hause; at the market=auf dem Markt""",
    "market": "at the market=auf dem Markt; in a shop=in einem Laden; on the street=auf der Straße",
}
"""Where it happens, whole phrases of both languages by kind of activity. "any" is outside and inside; two more kinds
are made from `SPOTS`: "spot", and "beside" for whoever does not sit on chairs."""

ACTIVITIES = """
reading|liest|lesen||a book, a newspaper, a letter, a map|any spot
writing|schreibt|schreiben||a letter|inside
eating|isst|essen||an apple, a banana, a cake, a sandwich, a soup, a pizza, =ice cream=Eis|any spot
drinking|trinkt|trinken||=coffee=Kaffee, =tea=Tee, =a glass of water=ein Glas Wasser, =juice=Saft|any spot
baking|backt|backen||a cake, a pizza, =bread=Brot|kitchen
cooking|kocht|kochen||a soup, =lunch=Mittagessen, =fish=Fisch|kitchen
cutting|schneidet|schneiden||an apple, =vegetables=Gemüse, =bread=Brot|kitchen
playing|spielt|spielen||=the guitar=Gitarre, =the violin=Geige, =the trumpet=Trompete, \
    =the piano=Klavier|stage outside
playing|spielt|spielen||=football=Fußball, =chess=Schach, =cards=Karten, =tennis=Tennis|outside
singing|singt|singen||a song, |stage
dancing|tanzt|tanzen|||stage outside
sitting|sitzt|sitzen|||any spot
sleeping|schläft|schlafen|||spot
standing|steht|stehen|||any spot
waiting|wartet|warten||, >for a bus=auf einen Bus, >for a friend=auf einen Freund|outside
resting|ruht|ruhen|sich aus||spot outside
laughing|lacht|lachen|||any spot
running|läuft|laufen||>along the beach=den Strand entlang, >through the forest=durch den Wald, \
    >down the stairs=die Treppe hinunter, >across the street=über die Straße, >through the park=durch den Park|
walking|geht|gehen||>along a river=an einem Fluss entlang, >across a bridge=über eine Brücke, \
    >through the city=durch die Stadt, >past a church=an einer Kirche vorbei, >down the street=die Straße entlang|
jumping|springt|springen||>into the lake=in den See, >into the pool=ins Schwimmbecken, \
    >over a fence=über einen Zaun, >over a puddle=über eine Pfütze, >off a rock=von einem Felsen|
swimming|schwimmt|schwimmen||>in the lake=im See, >in the sea=im Meer, >in the river=im Fluss|
climbing|klettert|klettern||>up a ladder=eine Leiter hinauf, >up a tree=auf einen Baum, \
    >over a wall=über eine Mauer, >up a rock=einen Felsen hinauf|
riding|reitet|reiten||>a horse=auf einem Pferd, >along the beach on a horse=auf einem Pferd den Strand entlang|
riding|fährt|fahren||>a bicycle=Fahrrad, >a bicycle through the city=mit dem Fahrrad durch die Stadt, \
    >a bicycle up a hill=mit dem Fahrrad einen Hügel hinauf|
skiing|fährt|fahren|Ski|>down a mountain=einen Berg hinunter, >through the forest=durch den Wald|
washing|wäscht|waschen||my car, a car, my dog|outside
repairing|repariert|reparieren||a bicycle, my bicycle, a car, a fence, a ladder|outside
painting|malt|malen||a picture|any
painting|streicht|streichen||a wall, a fence, a door, a house|
carrying|trägt|tragen||a bucket, a basket, a suitcase, a box, a bag, a ladder|outside
pushing|schiebt|schieben||a bicycle, a car, my bicycle|outside
pulling|zieht|ziehen||a boat, a suitcase, a box|outside
throwing|wirft|werfen||a ball, a stick|outside
kicking|schießt|schießen||a ball|outside
catching|fängt|fangen||a ball, a fish|outside
holding|hält|halten||an umbrella, a camera, a bag, a flower, a rope, a kite, a fish, a drum|any spot
buying|kauft|kaufen||a book, a hat, a flower, =fruit=Obst, =vegetables=Gemüse|market
selling|verkauft|verkaufen||=fruit=Obst, =flowers=Blumen, =fish=Fisch, =newspapers=Zeitungen|market
building|baut|bauen||a sandcastle, a snowman, a wall, a boat|outside
putting up|baut|bauen|auf|a tent|outside
watering|gießt|gießen||a flower, =the flowers=die Blumen, a tree|
feeding|füttert|füttern||a dog, a cat, a horse, a duck, a goat, =the ducks=die Enten|outside
stroking|streichelt|streicheln||a dog, a cat, a horse, a rabbit, my dog|any spot
photographing|fotografiert|fotografieren||a church, a bridge, a bird, a horse, a fountain, a woman|outside
looking at|sieht|sehen|sich an|a picture, a map, a letter|any spot
opening|öffnet|öffnen||a door, a window, a letter, a suitcase|
closing|macht|machen|zu|a door, a window, a box|
taking off|zieht|ziehen|aus|my jacket, my coat|any
putting on|zieht|ziehen|an|my coat, my jacket|any
calling|ruft|rufen|an|=a friend=einen Freund, =somebody=jemanden|any spot
helping|hilft|helfen||+a man, +a woman, +a boy, +a girl, +a lady|outside
following|folgt|folgen||+a man, +a dog, +a cat, +a girl, +a policeman|outside
thanking|dankt|danken||+a waiter, +a policeman, +a woman|any
talking|spricht|sprechen||>to a woman=mit einer Frau, >to a policeman=mit einem Polizisten, \
    >on the telephone=am Telefon, >to a boy=mit einem Jungen|
looking|schaut|schauen||>out of the window=aus dem Fenster, >at the sea=aufs Meer, \
    >into the camera=in die Kamera, >into a shop window=in ein Schaufenster|
sweeping|fegt|fegen||=the street=die Straße, =the floor=den Boden, =the stairs=die Treppe|
flying|lässt|lassen|steigen|a kite|outside
"""
"""What people do: English, German of one and of several, what stands at the end of a main clause, objects, places.

An object is a noun with its article, in the accusative (after + in the dative), or with the doer's possessive (`my`);
= is a phrase of both languages, and > one that says where to, and stands last.
"""

ANIMAL_ACTIVITIES = """
running|läuft|laufen||>through the grass=durch das Gras, >along the beach=den Strand entlang, \
    >through the snow=durch den Schnee, >across a meadow=über eine Wiese, >across the street=über die Straße|
sleeping|schläft|schlafen|||beside
lying|liegt|liegen|||beside
standing|steht|stehen|||outside beside
drinking|trinkt|trinken||>from a puddle=aus einer Pfütze, >from a bucket=aus einem Eimer, \
    >from the fountain=aus dem Brunnen|
jumping|springt|springen||>over a fence=über einen Zaun, >into the water=ins Wasser, >onto a bench=auf eine Bank, \
    >off a wall=von einer Mauer|
waiting|wartet|warten|||beside
looking|schaut|schauen||>out of the window=aus dem Fenster, >into the camera=in die Kamera|
following|folgt|folgen||+a man, +a girl, +a boy, +a cat, +a duck|outside
chasing|jagt|jagen||a ball, a bird, a cat, a duck|outside
watching|beobachtet|beobachten||a bird, a fish, a man, a rabbit, a cat|outside beside
eating|frisst|fressen||=grass=Gras, an apple, =bread=Brot|outside
"""
"""What animals do."""
